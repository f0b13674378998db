#include "sorted_scores.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace rampart::ramp {
namespace {

constexpr size_t kBlock = 8;         // rows between two stored sums: small enough to add up anew
constexpr size_t kRadixRows = 2048;  // fewer are sorted faster by comparing

struct WeightedScore {
    double score, weight;
};

double score_of(double row) { return row; }
double score_of(const WeightedScore& row) { return row.score; }
bool earlier(double a, double b) { return a < b; }
/// By weight too: sums then depend less on the rows' order.
bool earlier(const WeightedScore& a, const WeightedScore& b) {
    return a.score < b.score || (a.score == b.score && a.weight < b.weight);
}

/// An integer of the same order.
uint64_t order_key(double score) {
    const auto bits = std::bit_cast<uint64_t>(score + 0.0);  // -0 becomes 0
    return bits ^ (bits >> 63 != 0 ? ~uint64_t{0} : uint64_t{1} << 63);
}

/// Three passes by digits of 11 bits put the upper 33 bits in order: rows that agree in those are
/// few, or are equal, and are sorted by comparing.
template <class Row>
void sort_rows(std::vector<Row>& rows) {
    const auto less = [](const Row& a, const Row& b) { return earlier(a, b); };
    if (rows.size() < kRadixRows) return std::sort(rows.begin(), rows.end(), less);
    constexpr std::array<int, 3> kShifts{31, 42, 53};
    constexpr size_t kDigits = 1 << 11;
    std::vector<std::array<size_t, kDigits>> next(kShifts.size());
    for (const Row& row : rows) {
        const uint64_t key = order_key(score_of(row));
        for (size_t pass = 0; pass < kShifts.size(); ++pass)
            ++next[pass][(key >> kShifts[pass]) % kDigits];
    }
    std::vector<Row> other(rows.size());
    for (size_t pass = 0; pass < kShifts.size(); ++pass) {
        size_t sum = 0;
        for (size_t& position : next[pass]) sum += std::exchange(position, sum);
        for (const Row& row : rows)
            other[next[pass][(order_key(score_of(row)) >> kShifts[pass]) % kDigits]++] = row;
        rows.swap(other);
    }
    for (size_t begin = 0; begin < rows.size();) {
        const uint64_t upper = order_key(score_of(rows[begin])) >> kShifts[0];
        size_t end = begin + 1;
        while (end < rows.size() && order_key(score_of(rows[end])) >> kShifts[0] == upper) ++end;
        const auto first = rows.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = rows.begin() + static_cast<std::ptrdiff_t>(end);
        if (!std::is_sorted(first, last, less)) std::sort(first, last, less);
        begin = end;
    }
}

}  // namespace

SortedScores::SortedScores(std::vector<double> score, std::vector<double> weight)
    : score_(std::move(score)), row_weight_(std::move(weight)) {
    if (row_weight_.empty()) {
        sort_rows(score_);
    } else {
        std::vector<WeightedScore> rows(score_.size());
        for (size_t i = 0; i < rows.size(); ++i) rows[i] = {score_[i], row_weight_[i]};
        sort_rows(rows);
        for (size_t i = 0; i < rows.size(); ++i) {
            score_[i] = rows[i].score;
            row_weight_[i] = rows[i].weight;
        }
    }
    blocks_.reserve(score_.size() / kBlock + 1);
    ScoreSums sum;
    for (size_t i = 0; i < score_.size(); ++i) {
        if (i % kBlock == 0) blocks_.push_back(sum);
        const long double w = weight_of(i), wf = w * score_[i];
        sum.w += w;
        sum.wf += wf;
        sum.wff += wf * score_[i];
    }
    if (score_.size() % kBlock == 0) blocks_.push_back(sum);
    weight_total_ = static_cast<double>(sum.w);
}

ScoreSums SortedScores::before(size_t row) const {
    ScoreSums sum = blocks_[row / kBlock];
    for (size_t i = row - row % kBlock; i < row; ++i) {
        const long double w = weight_of(i), wf = w * score_[i];
        sum.w += w;
        sum.wf += wf;
        sum.wff += wf * score_[i];
    }
    return sum;
}

ScoreSums SortedScores::sums(size_t begin, size_t end) const {
    if (begin >= end) return {};
    ScoreSums sum = before(end);
    const ScoreSums less = before(begin);
    return {sum.w - less.w, sum.wf - less.wf, sum.wff - less.wff};
}

SortedScores::Split SortedScores::split(const Ramp& ramp) const {
    const size_t n = score_.size();
    const auto count = [&](auto before_here) {
        return static_cast<size_t>(std::partition_point(score_.begin(), score_.end(), before_here) -
                                   score_.begin());
    };
    if (ramp.slope >= 0) {
        const size_t begin = count([&](double f) { return ramp.line(f) <= 0; });
        const size_t end = count([&](double f) { return ramp.line(f) < 1; });
        return {begin, std::max(begin, end), std::max(begin, end), n};
    }
    const size_t begin = count([&](double f) { return ramp.line(f) >= 1; });
    const size_t end = count([&](double f) { return ramp.line(f) > 0; });
    return {begin, std::max(begin, end), 0, begin};
}

RampTotals SortedScores::step_totals(const Ramp& ramp) const {
    const auto passed = [&](auto before_here) {
        return static_cast<size_t>(std::partition_point(score_.begin(), score_.end(), before_here) -
                                   score_.begin());
    };
    const size_t below = passed([&](double f) { return ramp.slope * f < ramp.threshold; });
    const size_t up_to = passed([&](double f) { return ramp.slope * f <= ramp.threshold; });
    const ScoreSums one = sums(up_to, score_.size()), tied = sums(below, up_to);
    RampTotals totals;
    totals.q = one.w + ramp.tie * tied.w;
    totals.fq = one.wf + ramp.tie * tied.wf;
    return totals;
}

RampTotals SortedScores::totals(const Ramp& ramp) const {
    if (ramp.gamma == 0) return step_totals(ramp);
    const Split at = split(ramp);
    const ScoreSums one = sums(at.one_begin, at.one_end);
    RampTotals totals;
    totals.inside = sums(at.begin, at.end);
    const long double slope = static_cast<long double>(ramp.slope) / ramp.gamma;
    const long double base = ramp.offset - static_cast<long double>(ramp.threshold) / ramp.gamma;
    totals.q = one.w + slope * totals.inside.wf + base * totals.inside.w;
    totals.fq = one.wf + slope * totals.inside.wff + base * totals.inside.wf;
    // q - offset is slope·f - threshold/gamma inside
    const long double shift = base - ramp.offset, up = 1 - ramp.offset, down = ramp.offset;
    const auto& in = totals.inside;
    const long double squares = slope * slope * in.wff + 2 * slope * shift * in.wf +
                                shift * shift * in.w + one.w * (up * up) +
                                (weight_total_ - one.w - in.w) * (down * down);
    totals.penalty = squares * ramp.gamma / 2;
    return totals;
}

RampTotals SortedScores::exact_totals(const Ramp& ramp) const {
    if (ramp.gamma == 0) return step_totals(ramp);
    const Split at = split(ramp);
    const ScoreSums one = sums(at.one_begin, at.one_end);
    RampTotals totals;
    totals.inside = sums(at.begin, at.end);
    totals.q = one.w;
    totals.fq = one.wf;
    const double up = 1 - ramp.offset, down = ramp.offset;
    const long double zero = weight_total_ - one.w - totals.inside.w;
    long double squares = one.w * (up * up) + zero * (down * down);
    for (size_t block = at.begin; block < at.end; block += kBlock) {
        double q_sum = 0, fq_sum = 0, square_sum = 0;
        for (size_t i = block; i < std::min(block + kBlock, at.end); ++i) {
            const double q = ramp.line(score_[i]), w = weight_of(i), off = q - ramp.offset;
            q_sum += w * q;
            fq_sum += w * q * score_[i];
            square_sum += w * off * off;
        }
        totals.q += q_sum;
        totals.fq += fq_sum;
        squares += square_sum;
    }
    totals.penalty = squares * ramp.gamma / 2;
    return totals;
}

std::vector<SortedScores> sort_by_group(std::span<const double> score,
                                        std::span<const int32_t> group, size_t groups,
                                        std::span<const float> weight) {
    const auto group_of = [&](size_t row) {
        return group.empty() ? size_t{0} : static_cast<size_t>(group[row]);
    };
    std::vector<size_t> rows(groups);
    for (size_t i = 0; i < score.size(); ++i) ++rows[group_of(i)];
    std::vector<std::vector<double>> scores(groups);
    std::vector<std::vector<double>> weights(groups);
    for (size_t k = 0; k < groups; ++k) {
        scores[k].reserve(rows[k]);
        if (!weight.empty()) weights[k].reserve(rows[k]);
    }
    for (size_t i = 0; i < score.size(); ++i) {
        scores[group_of(i)].push_back(score[i]);
        if (!weight.empty()) weights[group_of(i)].push_back(weight[i]);
    }
    std::vector<SortedScores> sorted;
    sorted.reserve(groups);
    for (size_t k = 0; k < groups; ++k)
        sorted.emplace_back(std::move(scores[k]), std::move(weights[k]));
    return sorted;
}

}  // namespace rampart::ramp
