#include "rampart/evaluation/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/value_bins.hpp"
#include "rampart/stats/population_stability.hpp"

namespace rampart::evaluation {
namespace {

constexpr size_t kBins = dataset::kValueBins;

/// Sums over some of the rows.
class Sums {
  public:
    explicit Sums(std::string name) { rows_.name = std::move(name); }

    void add(const PolicyAnswers& first, const PolicyAnswers& second, const dataset::Dataset& data,
             size_t row) {
        const double w = data.weight_of(row);
        const double p = first.approve[row], q = second.approve[row];
        const double out = std::max(p - q, 0.0), in = std::max(q - p, 0.0);
        ++rows_.rows;
        weight_ += w;
        rows_.approved.both += w * std::min(p, q);
        rows_.approved.first_only += w * out;
        rows_.approved.second_only += w * in;
        rows_.approved.neither += w * (1 - std::max(p, q));
        rows_.first_score += w * first.score[row];
        rows_.second_score += w * second.score[row];
        if (data.numeric() || data.label[row] == 0) return;
        good_out_ += w * out;
        good_in_ += w * in;
    }
    ComparedRows finish(bool labels) {
        auto& approved = rows_.approved;
        if (labels && approved.first_only > 0)
            rows_.favourable_first_only = good_out_ / approved.first_only;
        if (labels && approved.second_only > 0)
            rows_.favourable_second_only = good_in_ / approved.second_only;
        for (double* x : {&approved.both, &approved.first_only, &approved.second_only,
                          &approved.neither, &rows_.first_score, &rows_.second_score})
            *x /= weight_;
        return std::move(rows_);
    }
    bool empty() const { return rows_.rows == 0; }

  private:
    ComparedRows rows_;
    double weight_ = 0, good_out_ = 0, good_in_ = 0;
};

double shift_of(const PolicyAnswers& first, const PolicyAnswers& second,
                const dataset::Dataset& data, std::span<const size_t> bins) {
    const size_t count = bins.empty() ? 0 : *std::max_element(bins.begin(), bins.end()) + 1;
    std::vector<double> a(count), b(count);
    for (size_t i = 0; i < bins.size(); ++i) {
        a[bins[i]] += data.weight_of(i) * first.approve[i];
        b[bins[i]] += data.weight_of(i) * second.approve[i];
    }
    return stats::population_stability(a, b);
}

/// Returns the index of the second one's scores in the bands of the first one's.
double score_shift(const PolicyAnswers& first, const PolicyAnswers& second,
                   const dataset::Dataset& data, std::span<const size_t> bands) {
    std::vector<double> top(kBins + 1, -INFINITY), a(kBins + 1), b(kBins + 1);
    for (size_t i = 0; i < bands.size(); ++i)
        top[bands[i]] = std::max(top[bands[i]], first.score[i]);
    for (size_t i = 0; i < bands.size(); ++i) {
        size_t band = 0, last = 0;
        for (; band < kBins; ++band) {
            if (top[band] == -INFINITY) continue;
            last = band;
            if (second.score[i] <= top[band]) break;
        }
        a[bands[i]] += data.weight_of(i);
        b[std::min(band, last)] += data.weight_of(i);
    }
    return stats::population_stability(a, b);
}

/// Sums the rows by a number that each has, under the names of the numbers.
std::vector<ComparedRows> by(const PolicyAnswers& first, const PolicyAnswers& second,
                             const dataset::Dataset& data, const auto& number,
                             const std::vector<std::string>& names) {
    std::vector<Sums> sums(names.begin(), names.end());
    for (size_t i = 0; i < data.rows(); ++i)
        sums[static_cast<size_t>(number[i])].add(first, second, data, i);
    std::vector<ComparedRows> parts;
    for (auto& part : sums)
        if (!part.empty()) parts.push_back(part.finish(!data.numeric()));
    return parts;
}

/// Names bands by the scores that they hold.
std::vector<std::string> band_names(const PolicyAnswers& first, std::span<const size_t> bands) {
    std::vector<double> low(kBins + 1, INFINITY), high(kBins + 1, -INFINITY);
    for (size_t i = 0; i < bands.size(); ++i) {
        low[bands[i]] = std::min(low[bands[i]], first.score[i]);
        high[bands[i]] = std::max(high[bands[i]], first.score[i]);
    }
    std::vector<std::string> names;
    for (size_t b = 0; b <= kBins; ++b)
        names.push_back(fmt::format("{:.3f} to {:.3f}", low[b], high[b]));
    return names;
}

}  // namespace

base::Result<Comparison> compare_answers(const PolicyAnswers& first, const PolicyAnswers& second,
                                         const dataset::Dataset& data) {
    RAMPART_CHECK(first.score.size() == data.rows() && second.score.size() == data.rows());
    if (data.rows() == 0) return base::make_error(base::Reason::kNoRows, "there are no rows");
    Comparison found;
    const std::vector<size_t> none(data.rows(), 0);
    found.all = std::move(by(first, second, data, none, {"all"}).front());
    if (!data.group.empty()) found.groups = by(first, second, data, data.group, data.group_names);
    const auto bands = dataset::quantile_bins(std::span<const double>(first.score), data);
    found.bands = by(first, second, data, bands, band_names(first, bands));
    found.score_psi = score_shift(first, second, data, bands);
    for (size_t f = 0; f < data.columns.size(); ++f)
        found.shifts.push_back({data.schema.features()[f].name,
                                shift_of(first, second, data, dataset::value_bins(data, f))});
    std::stable_sort(found.shifts.begin(), found.shifts.end(),
                     [](const auto& a, const auto& b) { return a.psi > b.psi; });
    return found;
}

}  // namespace rampart::evaluation
