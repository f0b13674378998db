#include "rampart/ope/policy_comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ope/value_bound.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::ope {
namespace {

constexpr size_t kTenths = 10;
constexpr double kEmptyTenth = 1e-4;

/// Which of the two policies is valued.
enum class Valued { kFirst, kSecond, kDifference };

Record record_of(const PoliciesOnLog& in, size_t i, Valued valued) {
    Record record = record_at(in.feedback.decisions, i);
    if (in.feedback.decisions.has_impact[i] != 0) record.impact = in.feedback.impact[i];
    if (valued == Valued::kFirst) {
        record.candidate = record.reference;
        record.candidate_refer = record.reference_refer;
    }
    return record;
}

ImpactModel model_of(const PoliciesOnLog& in, Valued valued) {
    ImpactModel model = in.model;
    model.max_weight.reset();
    model.missing_gamma.reset();
    model.absolute = valued == Valued::kDifference ? std::nullopt : std::optional(0.0);
    return model;
}

/// Returns the same with every impact's sign changed: the least of that is the most of this.
Record mirrored(Record record) {
    if (record.impact) record.impact = -*record.impact;
    if (auto& q = record.control_variates) q = ControlVariates{-q->approve, -q->decline};
    return record;
}
ImpactModel mirrored(const ImpactModel& model) {
    ImpactModel out = model;
    out.lo = -model.hi;
    out.hi = -model.lo;
    out.q_approve = -model.q_approve;
    out.q_decline = -model.q_decline;
    out.q_refer = -model.q_refer;
    if (model.declined) out.declined = -*model.declined;
    return out;
}

/// Sums of one person, or of all.
struct Ends {
    double low = 0, high = 0;
};

/// Values records of some persons.
class Valuation {
  public:
    Valuation(const PoliciesOnLog& in, Valued valued)
        : in_(in), valued_(valued), model_(model_of(in, valued)), mirror_(mirrored(model_)) {}

    MeanImpact of(std::span<const uint32_t> records, const UnitMap& units) {
        std::vector<double> low(units.units), high(units.units);
        for (size_t k = 0; k < records.size(); ++k) {
            const auto ends = add(records[k]);
            low[units.unit_of[k]] += ends.low;
            high[units.unit_of[k]] += ends.high;
        }
        out_.effective = squares_ > 0 ? weights_ * weights_ / squares_ : 0;
        constexpr auto kFewest = static_cast<double>(kFewestPersons);
        if (units.units < kFewestPersons || (drawn_ > 0 && out_.effective < kFewest)) return out_;
        const double per_record =
            static_cast<double>(units.units) / static_cast<double>(records.size());
        const auto least = stats::moments(low), most = stats::moments(mirrored_values(high));
        out_.mean = Interval{per_record * least.mean, -per_record * most.mean};
        const double delta = (1 - in_.confidence) / 2;
        out_.interval =
            Interval{per_record * lower_end(least, delta), -per_record * lower_end(most, delta)};
        return out_;
    }

  private:
    static std::vector<double> mirrored_values(std::vector<double> values) {
        for (double& value : values) value = -value;
        return values;
    }
    /// Returns the bound; where all values are the same, that one.
    static double lower_end(const stats::Moments& sample, double delta) {
        return sample.variance > 0 ? stats::t_lower_bound(sample, delta) : sample.mean;
    }
    /// Returns what the record adds, and counts it.
    Ends add(size_t i) {
        const Record record = record_of(in_, i, valued_);
        const Record opposite = mirrored(record);
        if (!has_support(record, model_)) {
            ++out_.unsupported;
            return {least_change(record, model_), -least_change(opposite, mirror_)};
        }
        const Interval range = change_range(record, model_);
        if (range.hi > range.lo) ++drawn_;
        const Ends ends{impact_change(record, model_), -impact_change(opposite, mirror_)};
        if (ends.low != ends.high) {
            ++out_.missing;
            return ends;
        }
        const double weight = weight_of(record);
        weights_ += weight;
        squares_ += weight * weight;
        return ends;
    }
    /// Returns by how much the estimate moves with the outcome.
    double weight_of(Record record) const {
        record.impact = model_.lo;
        const double at_least = impact_change(record, model_);
        record.impact = model_.hi;
        return std::abs(impact_change(record, model_) - at_least) / (model_.hi - model_.lo);
    }

    const PoliciesOnLog& in_;
    const Valued valued_;
    const ImpactModel model_, mirror_;
    MeanImpact out_;
    double weights_ = 0, squares_ = 0;
    size_t drawn_ = 0;  // records whose estimate depends on what was drawn
};

SwapShares swaps_of(const LoggedDecisions& d, std::span<const uint32_t> records) {
    SwapShares shares;
    for (const uint32_t i : records) {
        const double p = d.reference[i], q = d.candidate[i];
        shares.both += std::min(p, q);
        shares.first_only += std::max(p - q, 0.0);
        shares.second_only += std::max(q - p, 0.0);
        shares.neither += 1 - std::max(p, q);
    }
    for (double* share : {&shares.both, &shares.first_only, &shares.second_only, &shares.neither})
        *share /= static_cast<double>(records.size());
    return shares;
}

double psi_of(const LoggedDecisions& d, std::span<const uint32_t> records) {
    std::array<double, kTenths> first{}, second{};
    const double one = 1 / static_cast<double>(records.size());
    const auto tenth = [](double p) {
        return std::min(static_cast<size_t>(p * kTenths), kTenths - 1);
    };
    for (const uint32_t i : records) {
        first[tenth(d.reference[i])] += one;
        second[tenth(d.candidate[i])] += one;
    }
    double sum = 0;
    for (size_t t = 0; t < kTenths; ++t) {
        const double a = std::max(first[t], kEmptyTenth), b = std::max(second[t], kEmptyTenth);
        sum += (b - a) * std::log(b / a);
    }
    return sum;
}

ComparedRecords compare(const PoliciesOnLog& in, std::string name,
                        std::span<const uint32_t> records) {
    const auto& decisions = in.feedback.decisions;
    const auto units = map_units(decisions, records);
    ComparedRecords out{std::move(name), records.size(), units.units};
    if (units.units < kFewestPersons) return out;
    out.approved = swaps_of(decisions, records);
    out.psi = psi_of(decisions, records);
    out.first = Valuation(in, Valued::kFirst).of(records, units);
    out.second = Valuation(in, Valued::kSecond).of(records, units);
    out.difference = Valuation(in, Valued::kDifference).of(records, units);
    return out;
}

/// Returns up to ten bands of equal numbers of records by score; equal scores share one.
std::vector<Group> bands_of(std::span<const double> score) {
    std::vector<uint32_t> order(score.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return score[a] < score[b]; });
    std::vector<Group> bands;
    size_t last = kTenths;
    for (size_t i = 0; i < order.size();) {
        const size_t band = i * kTenths / order.size();
        const double value = score[order[i]];
        if (band != last) bands.emplace_back();
        last = band;
        for (; i < order.size() && score[order[i]] == value; ++i)
            bands.back().records.push_back(order[i]);
    }
    for (auto& band : bands) {
        band.name = fmt::format("{:.3f} to {:.3f}", score[band.records.front()],
                                score[band.records.back()]);
        std::sort(band.records.begin(), band.records.end());
    }
    return bands;
}

}  // namespace

base::Result<PolicyComparison> compare_policies(const PoliciesOnLog& compared) {
    const auto& decisions = compared.feedback.decisions;
    RAMPART_CHECK(compared.score.size() == decisions.size());
    if (decisions.size() == 0) return base::make_error(base::Reason::kNoRows, "no decisions");
    if (!(compared.confidence > 0 && compared.confidence < 1))
        return base::make_error(stats::Reason::kBadDelta, "confidence: is {}; give one in (0, 1)",
                                compared.confidence);
    std::vector<uint32_t> all(decisions.size());
    std::iota(all.begin(), all.end(), 0u);
    PolicyComparison out{.all = compare(compared, "all", all), .groups = {}, .bands = {}};
    std::vector<bool> grouped(decisions.size());
    for (const auto& group : decisions.groups) {
        out.groups.push_back(compare(compared, group.name, group.records));
        for (const uint32_t i : group.records) grouped[i] = true;
    }
    out.in_no_group = static_cast<size_t>(std::count(grouped.begin(), grouped.end(), false));
    for (const auto& band : bands_of(compared.score))
        out.bands.push_back(compare(compared, band.name, band.records));
    return out;
}

}  // namespace rampart::ope
