#include "row_moments.hpp"

#include <algorithm>

namespace rampart::ramp {
namespace {

constexpr size_t kChunk = 256;          // rows between roundings to long double
constexpr size_t kCoarseRows = 20'000;  // enough to come close to the solution

}  // namespace

/// Sums over a chunk in double, over all rows in long double. Cross products by block: of its
/// features, and with the overall rate.
struct RowMoments::Sums {
    size_t d;
    bool with_hessian;
    std::vector<double> chunk;
    std::vector<long double> all;

    // value, product, q, inside | by block: moments [d], inside·z [d], inside·z·z' [d * d]
    size_t of_block(size_t block) const { return 4 + block * (2 * d + d * d); }
    Sums(size_t blocks, size_t features, bool hessian)
        : d(features),
          with_hessian(hessian),
          chunk(4 + blocks * (2 * d + d * d)),
          all(chunk.size()) {}
    void flush() {
        for (size_t i = 0; i < chunk.size(); ++i) {
            all[i] += chunk[i];
            chunk[i] = 0;
        }
    }
};

RowMoments::RowMoments(const FeatureRows& rows, double offset) : rows_(rows), offset_(offset) {
    const size_t n = rows.score.size(), d = rows.d;
    std::vector<long double> squares(size());
    long double weight = 0;
    for (size_t i = 0; i < n; i += rows.stride) {
        const double w = rows.weight.empty() ? 1.0 : rows.weight[i];
        const size_t block = rows.block.empty() ? 0 : static_cast<size_t>(rows.block[i]);
        weight += w;
        for (size_t j = 0; j < d; ++j) {
            const double z = rows.features[i * d + j];
            squares[block * d + j] += w * z * z;
        }
    }
    weight_ = static_cast<double>(weight);
    for (const long double sum : squares) squares_.push_back(static_cast<double>(sum / weight));
    squares_.back() = 1;
    if (rows.stride > 1 || n < 4 * kCoarseRows) return;
    FeatureRows fewer = rows;
    fewer.stride = n / kCoarseRows;
    coarse_ = std::make_unique<RowMoments>(fewer, offset);
}

void RowMoments::add_rows(size_t begin, size_t end, std::span<const double> t, double gamma,
                          Sums& sums) const {
    const size_t d = rows_.d;
    const double shift = t.back(), steep = 1 / gamma;
    double* const whole = sums.chunk.data();
    for (size_t i = begin; i < end; i += rows_.stride) {
        const double w = rows_.weight.empty() ? 1.0 : rows_.weight[i];
        const size_t block = rows_.block.empty() ? 0 : static_cast<size_t>(rows_.block[i]);
        const double* z = rows_.features.data() + i * d;
        const double* pulls = t.data() + block * d;
        double pull = rows_.score[i] - shift;
        for (size_t j = 0; j < d; ++j) pull -= pulls[j] * z[j];
        const double line = pull / gamma + offset_;
        const double q = std::clamp(line, 0.0, 1.0), off = q - offset_, wq = w * q;
        whole[0] += w * (pull * q - gamma / 2 * off * off);
        whole[1] += wq * rows_.score[i];
        whole[2] += wq;
        double* const sum = whole + sums.of_block(block);
        for (size_t j = 0; j < d; ++j) sum[j] += wq * z[j];
        if (!sums.with_hessian || line <= 0 || line >= 1) continue;
        const double inside = w * steep;
        whole[3] += inside;
        for (size_t j = 0; j < d; ++j) {
            const double with = inside * z[j];
            sum[d + j] += with;
            double* const row = sum + 2 * d + j * d;
            for (size_t l = 0; l <= j; ++l) row[l] += with * z[l];
        }
    }
    sums.flush();
}

MomentOracle::Values RowMoments::at(std::span<const double> t, double gamma,
                                    bool with_hessian) const {
    const size_t n = rows_.score.size(), d = rows_.d, m = size();
    Sums sums(rows_.blocks, d, with_hessian);
    // long sums are flushed less often, so that it stays cheap
    const size_t chunk = std::max(kChunk, sums.chunk.size()) * rows_.stride;
    for (size_t begin = 0; begin < n; begin += chunk)
        add_rows(begin, std::min(n, begin + chunk), t, gamma, sums);
    const auto mean = [&](size_t i) { return static_cast<double>(sums.all[i] / weight_); };
    Values values;
    values.value = mean(0);
    values.product = mean(1);
    values.moments.resize(m);
    values.moments.back() = mean(2);
    for (size_t block = 0; block < rows_.blocks; ++block)
        for (size_t j = 0; j < d; ++j)
            values.moments[block * d + j] = mean(sums.of_block(block) + j);
    if (!with_hessian) return values;
    values.hessian.assign(m * m, 0);
    auto& h = values.hessian;
    h[m * m - 1] = mean(3);
    for (size_t block = 0; block < rows_.blocks; ++block) {
        const size_t from = sums.of_block(block) + d;
        for (size_t j = 0; j < d; ++j) {
            const size_t row = block * d + j;
            h[row * m + m - 1] = h[(m - 1) * m + row] = mean(from + j);
            for (size_t l = 0; l <= j; ++l)
                h[row * m + block * d + l] = h[(block * d + l) * m + row] =
                    mean(from + d + j * d + l);
        }
    }
    return values;
}

}  // namespace rampart::ramp
