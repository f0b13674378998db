#include "rampart/calibration/reliability.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::calibration {
namespace {

constexpr size_t kDraws = 4000;

struct Sums {
    size_t rows = 0;
    double weight = 0, squares = 0, said = 0, happened = 0;
    double off = 0, off_squared = 0;  // sums of w^2 d and w^2 d^2, d = score - label
    double effective_rows() const { return weight * weight / squares; }
    double gap() const { return std::abs(said - happened) / weight; }
};

/// Sums the rows by bin; rows of one score are in one bin.
std::vector<Sums> sums_of(const stats::ScoredRows& rows, size_t bins) {
    std::vector<uint32_t> order(rows.score.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return rows.score[a] != rows.score[b] ? rows.score[a] < rows.score[b] : a < b;
    });
    double total = 0, passed = 0;
    for (const uint32_t i : order) total += rows.weight_of(i);
    std::vector<Sums> out(bins);
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        double ties = 0;
        for (; end < order.size() && rows.score[order[end]] == rows.score[order[begin]]; ++end)
            ties += rows.weight_of(order[end]);
        const double middle = (passed + ties / 2) / total;
        auto& bin =
            out[std::min(static_cast<size_t>(middle * static_cast<double>(bins)), bins - 1)];
        passed += ties;
        for (size_t k = begin; k < end; ++k) {
            const double w = rows.weight_of(order[k]);
            const double d = rows.score[order[k]] - rows.label[order[k]];
            ++bin.rows;
            bin.weight += w;
            bin.squares += w * w;
            bin.said += w * rows.score[order[k]];
            bin.happened += w * rows.label[order[k]];
            bin.off += w * w * d;
            bin.off_squared += w * w * d * d;
        }
    }
    std::erase_if(out, [](const Sums& bin) { return bin.rows == 0; });
    return out;
}

/// Returns the standard error of a bin's mean of score - label times its share, at least that of
/// its rate; one row more of each label keeps it above 0 where all labels are one.
double noise_of(const Sums& bin, double total) {
    const double n = bin.effective_rows();
    const double rate = (n * bin.happened / bin.weight + 1) / (n + 2);
    const double least = bin.weight / total * std::sqrt(rate * (1 - rate) / n);
    const double mean = (bin.said - bin.happened) / bin.weight;
    const double squares = bin.off_squared - 2 * mean * bin.off + mean * mean * bin.squares;
    return std::max(least, std::sqrt(std::max(0.0, squares)) / total);
}

/// Returns the standard error that the mean of the bins' gaps has because their shares are drawn.
double noise_of_shares(const std::vector<Sums>& bins, double mean, double total) {
    double squares = 0;
    for (const auto& bin : bins) squares += bin.squares * (bin.gap() - mean) * (bin.gap() - mean);
    return std::sqrt(squares) / total;
}

}  // namespace

base::Result<Reliability> reliability_of(const ReliabilityRows& rows, size_t bins,
                                         double confidence, uint64_t seed) {
    const stats::ScoredRows scored{rows.label, rows.score, rows.weight};
    RAMPART_RETURN_IF_ERROR(stats::validate(scored));
    Reliability out;
    out.brier = stats::brier(scored);
    out.log_loss = stats::log_loss(scored);
    const auto sums = sums_of(scored, bins);
    double total = 0;
    for (const auto& bin : sums) total += bin.weight;
    std::vector<double> noise;
    for (const auto& bin : sums) {
        const double rate = bin.happened / bin.weight;
        out.bins.push_back({bin.rows, bin.weight, bin.said / bin.weight, rate,
                            stats::wilson(rate, bin.effective_rows(), confidence)});
        out.expected += std::abs(bin.said - bin.happened) / total;
        noise.push_back(noise_of(bin, total));
    }
    base::Random random(seed);
    std::vector<double> draws(kDraws);
    for (double& draw : draws)
        for (const double one : noise) draw += one * std::abs(random.normal());
    out.by_chance = std::accumulate(draws.begin(), draws.end(), 0.0) / kDraws;
    const double of_shares = noise_of_shares(sums, out.expected, total);
    for (double& draw : draws) draw += of_shares * std::abs(random.normal());
    const auto at = draws.begin() + static_cast<ptrdiff_t>(confidence * (kDraws - 1));
    std::nth_element(draws.begin(), at, draws.end());
    out.interval = {std::max(0.0, out.expected - *at), std::min(1.0, out.expected + *at)};
    return out;
}

}  // namespace rampart::calibration
