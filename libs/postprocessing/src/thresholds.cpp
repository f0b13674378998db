#include <fmt/ranges.h>

#include <algorithm>

#include "calibrate.hpp"
#include "postprocessors.hpp"
#include "rampart/fairness/group_thresholds.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

using learning::OptionValues;

base::Result<fairness::RateConstraints> constraints_of(const OptionValues& values) {
    fairness::RateConstraints out;
    for (const auto& text : values.texts("constraints")) {
        auto parity = fairness::parse_parity(text, values.number("tolerance"));
        if (!parity) return parity.error().with_context("constraints");
        out.parity.insert(out.parity.end(), parity->begin(), parity->end());
    }
    if (const double most = values.number("approve_at_most"); most < 1)
        out.targets.push_back({fairness::Rate::kApproval, most});
    RAMPART_RETURN_IF_ERROR(fairness::validate(out));
    return out;
}

/// Thresholds by group, without a ramp.
class Thresholds : public Postprocessor {
  public:
    std::string_view name() const override { return "thresholds"; }
    std::string_view summary() const override {
        return "a threshold for each group, or two or three that are drawn, so that rates are "
               "alike at the least cost";
    }
    std::string_view source() const override {
        return "Hardt, Price and Srebro 2016, Equality of Opportunity in Supervised Learning";
    }
    std::vector<learning::Option> options() const override {
        return {
            {"constraints", std::vector<std::string>{"equalized_odds"},
             "rates that have to be alike in all groups: fpr, fnr, equalized_odds (both), "
             "statistical_parity (approval rates) or error; fnr@sex compares the groups of "
             "one protected attribute"},
            {"tolerance", 0.05, "allowed difference of a rate between groups", 0, 1, {}, {}, true},
            {"approve_at_most", 1.0, "maximum share of all rows to approve", 0, 1, {}, {}, true}};
    }
    Needs needs(const OptionValues&) const override {
        return {.groups = true, .labels = true, .groups_to_decide = true};
    }
    base::Status check(const OptionValues& values) const override {
        if (values.texts("constraints").empty())
            return base::make_error(learning::Reason::kBadOption,
                                    "constraints is empty: name a rate, as in equalized_odds");
        const auto constraints = constraints_of(values);
        return constraints ? base::ok() : constraints.error();
    }
    base::Result<Kept> measure(const Rows& rows, std::span<const double> approve,
                               const OptionValues& values) const override {
        RAMPART_TRY(auto constraints, constraints_of(values));
        constraints.targets.clear();
        const auto table = rows.table();
        RAMPART_TRY(const auto system, fairness::RateSystem::create(table, constraints));
        const auto found = system.values(system.approved(table, approve));
        Kept out{.beyond = found.violation};
        std::vector<std::string> texts;
        for (size_t i = 0; i < found.gaps.size(); ++i) {
            const auto& one = constraints.parity[i];
            out.most = std::max(out.most, found.gaps[i]);
            texts.push_back(fmt::format("{}{}{} differs by {:.4f}", to_string(one.rate),
                                        one.attribute.empty() ? "" : "@", one.attribute,
                                        found.gaps[i]));
        }
        out.text = fmt::format("{}", fmt::join(texts, ", "));
        return out;
    }

  protected:
    base::Result<Fitted> solve(const Rows& rows, const OptionValues& values,
                               const Setting& setting) const override {
        if (!(setting.slope > 0))
            return base::make_error(Reason::kOtherScores,
                                    "criterion {} needs a score that rises with P(favourable), "
                                    "and this one is {:g}·P {:+g}",
                                    name(), setting.slope, setting.intercept);
        fairness::GroupThresholdParams params;
        RAMPART_TRY(params.constraints, constraints_of(values));
        // the least cost is that of approving from the break-even on
        const double at = break_even(setting);
        params.false_positive_cost = 2 * at;
        params.false_negative_cost = 2 * (1 - at);
        Fitted out;
        for (const double p : rows.p) out.scores.push_back(2 * p - 1);
        RAMPART_TRY(const auto found,
                    fairness::fit_group_thresholds(rows.table(), out.scores, params));
        RAMPART_TRY(auto link, fairness::threshold_link(found, {}));
        out.rule.ramp = std::move(link.ramp);
        out.rule.members = std::move(link.members);
        return out;
    }
};

}  // namespace

const Postprocessor& group_thresholds() {
    static const Thresholds one;
    return one;
}

}  // namespace rampart::postprocessing
