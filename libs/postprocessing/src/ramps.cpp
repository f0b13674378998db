#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "calibrate.hpp"
#include "compared.hpp"
#include "postprocessors.hpp"
#include "rampart/learning/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

using learning::OptionValues;
using ramp::RampCriterion;
using Given = model::GroupBlindAdjustment::Given;

bool is_blind(const OptionValues& values) { return values.text("group") == "blind"; }

std::vector<learning::Option> ramp_options() {
    const std::string empty;
    const std::vector<std::string> no_texts;
    return {
        {"tolerance", 0.05, "allowed difference between groups", 0, 1, {}, {}, true},
        {"group_tolerances", no_texts, "GROUP:NUMBER, another tolerance for one group"},
        {"within", empty,
         "protected attribute; groups are compared within each of its values (conditional parity)"},
        {"gamma", 0.3,
         "width of the band of scores (in [-1, 1]) in which approval is drawn; 0: a threshold, "
         "ties drawn",
         0, 100},
        {"rho", std::vector<double>(), "middle of the groups' rates; empty: the best one", 0, 1},
        {"approve_at_least", 0.0, "minimum share of all rows to approve", 0, 1, {}, {}, true},
        {"approve_at_most", 1.0, "maximum share of all rows to approve", 0, 1, {}, {}, true},
        {"regulariser",
         std::string("centred"),
         "centred: on the threshold; paper: as printed, which favours declines",
         0,
         0,
         {"centred", "paper"}},
        calibration_option(),
        {"group",
         std::string("known"),
         "known: the rule reads the group when it decides; blind: it does not, but has P(group | "
         "features), learnt from rows where the group is known; the criterion holds in expectation",
         0,
         0,
         {"known", "blind"},
         {},
         true},
        {"group_trees",
         int64_t{100},
         "blind: trees of each ensemble of P(group | features)",
         1,
         10'000,
         {},
         "group=blind"},
    };
}

/// The ramp under one criterion.
class RampPostprocessor : public Postprocessor {
  public:
    RampPostprocessor(RampCriterion criterion, std::string_view summary)
        : criterion_(criterion), summary_(summary) {}
    std::string_view name() const override { return to_string(criterion_); }
    std::string_view summary() const override { return summary_; }
    std::string_view source() const override {
        return "Alabdulmohsin and Lucic 2021, A Near-Optimal Algorithm for Debiasing Trained "
               "Machine Learning Models, Definition 1";
    }
    std::vector<learning::Option> options() const override {
        auto options = ramp_options();
        // rates among labels would need P(favourable) calibrated in each stratum
        if (!about_labels())
            for (auto& option : strata_options()) options.push_back(std::move(option));
        if (criterion_ != RampCriterion::kCovariance) return options;
        // a covariance has one tolerance and no rates of groups
        std::erase_if(options, [](const auto& option) {
            return option.name == "group_tolerances" || option.name == "rho";
        });
        options.push_back({"member", std::string(),
                           "group, or value of one attribute like sex=f, whose membership "
                           "approval may not vary with; empty: of more than two groups the "
                           "largest"});
        return options;
    }
    Needs needs(const OptionValues& values) const override {
        Needs out{.groups = true,
                  .labels = about_labels() || method(values),
                  .groups_to_decide = !is_blind(values),
                  .strata = has_strata(values)};
        if (is_blind(values)) out.group_model = given();
        return out;
    }
    base::Status check(const OptionValues& values) const override;
    base::Result<Kept> measure(const Rows& rows, std::span<const double> approve,
                               const OptionValues& values) const override;

  protected:
    base::Result<Fitted> solve(const Rows& rows, const OptionValues& values,
                               const Setting& setting) const override;

  private:
    bool about_labels() const {
        return criterion_ == RampCriterion::kEqualOpportunity ||
               criterion_ == RampCriterion::kEqualizedOdds;
    }
    std::optional<calibration::CalibrationMethod> method(const OptionValues& values) const {
        return calibration_method(values, about_labels()
                                              ? std::optional(calibration::CalibrationMethod::kBeta)
                                              : std::nullopt);
    }
    std::vector<Given> given() const {
        if (criterion_ == RampCriterion::kEqualizedOdds)
            return {Given::kFavourable, Given::kUnfavourable};
        if (criterion_ == RampCriterion::kEqualOpportunity) return {Given::kFavourable};
        return {Given::kNothing};
    }
    base::Result<ramp::RampParams> params(const OptionValues& values, const Rows& rows) const;
    base::Result<Compared> compare(const Rows& rows, const OptionValues& values) const;
    /// Notes slope, price and width for the criterion: where it is about labels, the score has to
    /// be 2·P(favourable) - 1.
    base::Status set_score(const Setting& setting, Fitted& out) const;
    base::Status solve_aware(const Rows& rows, const Setting& setting, const Compared& compared,
                             Fitted& out) const;
    base::Status solve_blind(const Rows& rows, Fitted& out) const;

    RampCriterion criterion_;
    std::string_view summary_;
};

base::Status RampPostprocessor::check(const OptionValues& values) const {
    if (is_blind(values) && criterion_ == RampCriterion::kCovariance)
        return base::make_error(Reason::kBlindCovariance,
                                "group = blind does not go with criterion covariance; for two "
                                "groups, statistical_parity bounds the covariance as well");
    if (is_blind(values) && !values.text("within").empty())
        return base::make_error(Reason::kBlindWithin,
                                "within compares groups inside a protected attribute, which a "
                                "rule with group = blind does not know: leave one of them out");
    if (is_blind(values) && has_strata(values))
        return base::make_error(Reason::kBlindWithin,
                                "within_feature has a ramp for each group in each stratum, and a "
                                "rule with group = blind has one ramp: leave one of them out");
    RAMPART_RETURN_IF_ERROR(check_strata_options(values));
    if (values.has("rho") && values.numbers("rho").size() > 1)
        return base::make_error(learning::Reason::kBadOption, "rho has {} numbers: give one",
                                values.numbers("rho").size());
    if (values.has("group_tolerances"))
        for (const auto& text : values.texts("group_tolerances"))
            if (const auto one = group_tolerance(text); !one) return one.error();
    const double least = values.number("approve_at_least"), most = values.number("approve_at_most");
    if (least > most)
        return base::make_error(learning::Reason::kBadOption,
                                "approve_at_least is {}, above approve_at_most = {}: no share is "
                                "between them",
                                least, most);
    const bool no_steps = criterion_ == RampCriterion::kEqualizedOdds || is_blind(values);
    if (no_steps && !(values.number("gamma") >= 1e-6))
        return base::make_error(learning::Reason::kBadOption,
                                "gamma is {}: equalized_odds, and any rule with group = blind, "
                                "needs one from 1e-6 on; criterion thresholds has steps",
                                values.number("gamma"));
    return base::ok();
}

base::Result<ramp::RampParams> RampPostprocessor::params(const OptionValues& values,
                                                         const Rows& rows) const {
    const auto& groups = rows.group_names;
    ramp::RampParams out;
    out.criterion = criterion_;
    out.gamma = values.number("gamma");
    out.epsilon = values.number("tolerance");
    out.overall = {values.number("approve_at_least"), values.number("approve_at_most")};
    out.regulariser = values.text("regulariser") == "paper" ? ramp::Regulariser::kPaper
                                                            : ramp::Regulariser::kCentred;
    if (criterion_ == RampCriterion::kCovariance) return out;  // has no rates of groups
    if (const auto& rho = values.numbers("rho"); !rho.empty()) out.rho = rho.front();
    for (const auto& text : values.texts("group_tolerances")) {
        RAMPART_TRY(const auto one, group_tolerance(text));
        const auto at = std::find(groups.begin(), groups.end(), one.first);
        if (at == groups.end()) return no_such_group(text, groups);
        if (out.epsilons.empty()) out.epsilons.assign(groups.size(), out.epsilon);
        out.epsilons[static_cast<size_t>(at - groups.begin())] = one.second;
    }
    const auto of_groups = out.epsilons;  // the same in every stratum
    for (size_t s = 1; s < rows.stratum_names.size(); ++s)
        out.epsilons.insert(out.epsilons.end(), of_groups.begin(), of_groups.end());
    return out;
}

base::Result<Compared> RampPostprocessor::compare(const Rows& rows,
                                                  const OptionValues& values) const {
    RAMPART_RETURN_IF_ERROR(check_has_strata(values, rows));
    const auto& within = values.text("within");
    RAMPART_TRY(auto compared, criterion_ == RampCriterion::kCovariance
                                   ? compare_member(rows, values.text("member"), within)
                                   : compare_groups(rows.group_names, within));
    return within_strata(std::move(compared), rows);
}

base::Status RampPostprocessor::set_score(const Setting& setting, Fitted& out) const {
    auto& params = out.params;
    params.gamma = setting.gamma.value_or(params.gamma);
    out.rule.slope = setting.slope;
    out.rule.intercept = setting.intercept;
    params.price = setting.threshold;
    if (!about_labels() || (setting.slope == 2 && setting.intercept == -1)) return base::ok();
    if (!(setting.slope > 0))
        return base::make_error(Reason::kOtherScores,
                                "criterion {} needs a score that rises with P(favourable), and "
                                "this one is {:g}·P {:+g}: take statistical_parity or covariance",
                                name(), setting.slope, setting.intercept);
    out.rule.slope = 2;
    out.rule.intercept = -1;
    params.price = 2 * break_even(setting) - 1;
    if (params.gamma > 0) params.gamma = std::clamp(params.gamma * 2 / setting.slope, 1e-6, 100.0);
    return base::ok();
}

base::Status RampPostprocessor::solve_aware(const Rows& rows, const Setting& setting,
                                            const Compared& compared, Fitted& out) const {
    const ramp::RampProblem problem{.score = out.scores,
                                    .group = out.group,
                                    .groups = out.groups,
                                    .weight = rows.weight,
                                    .stratum = out.strata};
    if (setting.search_gamma) {
        const ramp::GammaSearch search{.seed = setting.seed, .label = rows.label};
        RAMPART_TRY(auto choice, ramp::choose_gamma(problem, out.params, search));
        out.params.gamma = choice.gamma;
        out.gammas = std::move(choice.figures);
        out.aware = std::move(choice.solution);
    } else {
        RAMPART_TRY(out.aware, ramp::solve_ramp(problem, out.params));
    }
    out.rule.ramp = compared.expanded(out.aware->rule);
    out.rule.strata = rows.strata;
    return base::ok();
}

base::Status RampPostprocessor::solve_blind(const Rows& rows, Fitted& out) const {
    ramp::BlindProblem problem{.score = out.scores,
                               .posterior = rows.posteriors[0],
                               .groups = rows.groups(),
                               .weight = rows.weight};
    problem.given_label = about_labels();
    if (rows.posteriors.size() > 1) problem.posterior_unfavourable = rows.posteriors[1];
    RAMPART_TRY(out.blind, ramp::solve_blind_ramp(problem, out.params));
    out.rule.ramp = out.blind->rule;
    for (const Given one : given())
        out.rule.amounts.push_back(one == Given::kNothing      ? out.blind->pulls
                                   : one == Given::kFavourable ? out.blind->positive_pulls
                                                               : out.blind->negative_pulls);
    return base::ok();
}

base::Result<Fitted> RampPostprocessor::solve(const Rows& rows, const OptionValues& values,
                                              const Setting& setting) const {
    Fitted out;
    RAMPART_TRY(out.params, params(values, rows));
    RAMPART_RETURN_IF_ERROR(set_score(setting, out));
    RAMPART_TRY(const auto compared, compare(rows, values));
    const bool blind = is_blind(values);
    RAMPART_RETURN_IF_ERROR(
        calibrate(rows, method(values), about_labels() && !blind, setting, out));
    out.groups = compared.groups;
    out.strata = compared.strata;
    out.names = compared.names;
    for (size_t i = 0; i < rows.size(); ++i)
        out.group.push_back(static_cast<int32_t>(compared.of(rows, i)));
    RAMPART_RETURN_IF_ERROR(blind ? solve_blind(rows, out)
                                  : solve_aware(rows, setting, compared, out));
    return out;
}

base::Result<Kept> RampPostprocessor::measure(const Rows& rows, std::span<const double> approve,
                                              const OptionValues& values) const {
    RAMPART_TRY(const auto asked, params(values, rows));
    RAMPART_TRY(const auto compared, compare(rows, values));
    const MeasuredRows measured{rows, approve, compared};
    if (criterion_ == RampCriterion::kCovariance) return kept_covariance(measured, asked.epsilon);
    const auto tolerance = [&](size_t k) {
        return asked.epsilons.empty() ? asked.epsilon : asked.epsilons[k];
    };
    if (criterion_ == RampCriterion::kStatisticalParity)
        return kept_rate(measured, Among::kAll, tolerance);
    RAMPART_TRY(auto kept, kept_rate(measured, Among::kFavourable, tolerance));
    if (criterion_ == RampCriterion::kEqualOpportunity) return kept;
    RAMPART_TRY(auto other, kept_rate(measured, Among::kUnfavourable, tolerance));
    const auto text = fmt::format("{}; {}", kept.text, other.text);
    if (other.beyond > kept.beyond) std::swap(kept, other);
    kept.most = std::max(kept.most, other.most);
    kept.text = text;
    return kept;
}

}  // namespace

const Postprocessor& statistical_parity() {
    static const RampPostprocessor one(RampCriterion::kStatisticalParity,
                                       "approval rates alike in all groups");
    return one;
}

const Postprocessor& equal_opportunity() {
    static const RampPostprocessor one(
        RampCriterion::kEqualOpportunity,
        "approval rates among those who would repay alike in all groups");
    return one;
}

const Postprocessor& equalized_odds() {
    static const RampPostprocessor one(
        RampCriterion::kEqualizedOdds,
        "approval rates among those who would repay, and among the others, alike in all groups");
    return one;
}

const Postprocessor& covariance() {
    static const RampPostprocessor one(RampCriterion::kCovariance,
                                       "approval does not vary with membership in a group");
    return one;
}

}  // namespace rampart::postprocessing
