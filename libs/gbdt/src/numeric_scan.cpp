#include "numeric_scan.hpp"

#include <array>

#include "rampart/model/instruction_set.hpp"

namespace rampart::gbdt {
namespace {

constexpr size_t kMostBins = 256;

/// Sums to the left of each cut.
struct Prefix {
    std::array<double, kMostBins> g, h, rows;
};

struct Rules {
    double g, h, rows;  // sums over the whole leaf
    double l1, l2;
    double least_h, least_rows;
};

RAMPART_INLINE double shrunk(double g, double l1) {
    const double over = (g < 0 ? -g : g) - l1;
    return over > 0 ? over : 0;  // the sign disappears in the square
}

/// Computes the score of both sides of each cut; -1 if the cut is not allowed.
RAMPART_INLINE void score_body(const Prefix& left, double more_g, double more_h, double more_rows,
                               const Rules& rules, size_t n, double* scores) {
    for (size_t b = 0; b < n; ++b) {
        const double gl = left.g[b] + more_g, gr = rules.g - gl;
        const double hl = left.h[b] + more_h, hr = rules.h - hl;
        const double rl = left.rows[b] + more_rows, rr = rules.rows - rl;
        const double sl = shrunk(gl, rules.l1), sr = shrunk(gr, rules.l1);
        const double sides = sl * sl / (hl + rules.l2) + sr * sr / (hr + rules.l2);
        const double least_h = hl < hr ? hl : hr;
        const double least_rows = rl < rr ? rl : rr;
        const double enough_h = least_h >= rules.least_h ? sides : -1;
        const double some_h = least_h > 0 ? enough_h : -1;
        scores[b] = least_rows >= rules.least_rows ? some_h : -1;
    }
}

void score_portable(const Prefix& left, double g, double h, double rows, const Rules& rules,
                    size_t n, double* scores) {
    score_body(left, g, h, rows, rules, n, scores);
}
RAMPART_AVX2 void score_avx2(const Prefix& left, double g, double h, double rows,
                             const Rules& rules, size_t n, double* scores) {
    score_body(left, g, h, rows, rules, n, scores);
}

void fill_prefix(const FeatureHistogram& bins, const Scale& scale, size_t n, Prefix& out) {
    int64_t g = 0, h = 0;
    uint32_t rows = 0;
    for (size_t b = 0; b < n; ++b) {
        g += bins.g[b];
        h += bins.h[b];
        rows += bins.rows[b];
        out.g[b] = static_cast<double>(g) * scale.g;
        out.h[b] = static_cast<double>(h) * scale.h;
        out.rows[b] = rows;
    }
}

}  // namespace

CutScan scan_cuts(const FeatureHistogram& bins, const LeafView& leaf, const LearnerParams& params) {
    const size_t values = bins.g.size() - 1;
    const IntSums missing = bins.at(values);
    Prefix left;
    fill_prefix(bins, leaf.scale, values, left);
    const Rules rules{static_cast<double>(leaf.sums.g) * leaf.scale.g,
                      static_cast<double>(leaf.sums.h) * leaf.scale.h,
                      static_cast<double>(leaf.sums.rows),
                      params.l1,
                      params.l2,
                      params.min_hessian_in_leaf,
                      static_cast<double>(params.min_rows_in_leaf)};
    const auto run =
        params.instructions == model::InstructionSet::kAvx2 ? score_avx2 : score_portable;
    CutScan best;
    double most = 0;
    std::array<double, kMostBins> scores;
    const auto consider_cuts = [&](size_t n, bool missing_left) {
        for (size_t b = 0; b < n; ++b) {
            const bool earlier = missing_left && b < best.bin && scores[b] == most;
            if (!(scores[b] > most) && !(best.found && earlier)) continue;
            most = scores[b];
            best = {true, b, missing_left, {}};
        }
    };
    // without missing rows the last cut puts all rows on one side and is not allowed
    run(left, 0, 0, 0, rules, values, scores.data());
    consider_cuts(values, false);
    if (missing.rows > 0) {
        run(left, static_cast<double>(missing.g) * leaf.scale.g,
            static_cast<double>(missing.h) * leaf.scale.h, static_cast<double>(missing.rows), rules,
            values - 1, scores.data());
        consider_cuts(values - 1, true);
    }
    if (!best.found) return best;
    for (size_t b = 0; b <= best.bin; ++b) best.left = best.left + bins.at(b);
    if (best.missing_left) best.left = best.left + missing;
    return best;
}

}  // namespace rampart::gbdt
