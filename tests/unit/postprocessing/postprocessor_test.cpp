#include "rampart/postprocessing/postprocessor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "lenders.hpp"
#include "rampart/learning/option_text.hpp"

namespace rampart::postprocessing {
namespace {

using learning::OptionValues;
using test::applicants;
using testing::HasSubstr;

using Options = std::map<std::string, learning::OptionValue>;

const Postprocessor& named(const std::string& name) { return *find_postprocessor(name).value(); }

OptionValues values_of(const std::string& criterion, const Options& set = {}) {
    OptionValues values(named(criterion).options());
    for (const auto& [name, value] : set) EXPECT_TRUE(values.set(name, value)) << name;
    return values;
}

/// Impact of +75 and -150, over 150: an approval is worth a decline at P(favourable) = 2/3.
constexpr Setting kImpact{.slope = 1.5, .intercept = -1};

TEST(Postprocessors, HaveNamesSummariesAndOptionsOfTheirOwn) {
    std::set<std::string_view> names;
    for (const auto* one : postprocessors()) {
        EXPECT_TRUE(names.insert(one->name()).second);
        EXPECT_FALSE(one->summary().empty());
        const OptionValues values(one->options());
        EXPECT_TRUE(one->check(values)) << one->name();
        EXPECT_EQ(one->needs(values).any(), one->name() != "none");
        for (const auto& option : values.options())  // conditions name options that there are
            learning::has_effect(values, option);
    }
    EXPECT_EQ(postprocessors().front()->name(), "none");
    const auto unknown = find_postprocessor("parity");
    EXPECT_EQ(unknown.error().reason, "unknown_postprocessor");
    EXPECT_THAT(unknown.error().message, HasSubstr("statistical_parity"));
}

/// The criterion holds on the rows that it was fitted on, as the scores say, at an operating point
/// of its own; without it, it does not.
TEST(Postprocessors, KeepTheirCriterionOnTheFittedRows) {
    const auto rows = applicants(9000, 1);
    const auto plain =
        fit(named("none"), rows, values_of("none"), kImpact).value().rule.approve(rows, {});
    // P(favourable) of two groups is wrong without the calibration: labels, weights and sampling
    // leave some of a rate
    for (const auto& [criterion, slack] :
         std::vector<std::pair<std::string, double>>{{"statistical_parity", 1e-9},
                                                     {"covariance", 1e-9},
                                                     {"equal_opportunity", 0.03},
                                                     {"equalized_odds", 0.03},
                                                     {"thresholds", 1e-6}}) {
        const auto& one = named(criterion);
        Options set{{"tolerance", 0.01}};
        if (criterion == "covariance") set["member"] = std::string("age=young");
        const auto values = values_of(criterion, set);
        const auto fitted = fit(one, rows, values, kImpact);
        ASSERT_TRUE(fitted) << criterion << ": " << fitted.error().message;
        const auto kept = one.measure(rows, fitted->rule.approve(rows, {}), values).value();
        EXPECT_LE(kept.beyond, slack) << criterion << ": " << kept.text;
        const auto before = one.measure(rows, plain, values).value();
        EXPECT_GT(before.beyond, 0.04) << criterion << ": " << before.text;
        EXPECT_NEAR(before.beyond, before.most - 0.01, 1e-12);
    }
}

TEST(Postprocessors, DecideAboutTheOperatingPoint) {
    // where nothing binds, approval begins at the threshold: P = 2/3, and 0.8
    const auto rows = applicants(3000, 2);
    for (const auto& [threshold, at] :
         std::vector<std::pair<double, double>>{{0, 2.0 / 3}, {0.2, 0.8}}) {
        for (const char* criterion : {"statistical_parity", "equal_opportunity"}) {
            const auto values = values_of(
                criterion,
                {{"tolerance", 1.0}, {"gamma", 0.0}, {"calibration", std::string("none")}});
            auto setting = kImpact;
            setting.threshold = threshold;
            const auto rule = fit(named(criterion), rows, values, setting).value().rule;
            const auto approve = rule.approve(rows, {});
            for (size_t i = 0; i < rows.size(); ++i)
                EXPECT_TRUE(std::abs(rows.p[i] - at) < 1e-6 || approve[i] == (rows.p[i] > at))
                    << criterion;
        }
    }
}

/// Returns the rate that the point bounds, of decisions P(approve).
double rate(const Rows& rows, const std::vector<double>& approve, const std::string& point) {
    double all[2] = {}, approved[2] = {};  // by label
    for (size_t i = 0; i < rows.size(); ++i) {
        all[rows.label[i]] += rows.weight_of(i);
        approved[rows.label[i]] += rows.weight_of(i) * approve[i];
    }
    const double granted = approved[0] + approved[1];
    if (point.starts_with("approve")) return granted / (all[0] + all[1]);
    if (point.starts_with("bad_rate")) return approved[0] / granted;
    return point.starts_with("fpr") ? approved[0] / all[0] : 1 - approved[1] / all[1];
}

/// The rate holds of what the rule decides, as far as it goes, and the criterion with it.
TEST(Postprocessors, TheRuleMovesUntilItsOwnDecisionsKeepTheOperatingPoint) {
    const auto rows = applicants(4000, 12);
    for (const auto* one : postprocessors()) {
        const std::string name(one->name());
        const auto values =
            values_of(name, name == "none" ? Options{} : Options{{"tolerance", 0.02}});
        for (const auto& [text, bound] :
             std::vector<std::pair<std::string, double>>{{"approve=0.6", 0.6},
                                                         {"bad_rate<=0.2", 0.2},
                                                         {"fpr<=0.3", 0.3},
                                                         {"fnr<=0.25", 0.25}}) {
            auto setting = kImpact;
            setting.operate_at = fairness::parse_operating_point(text).value();
            const auto fitted = fit(*one, rows, values, setting);
            ASSERT_TRUE(fitted) << name << ' ' << text << ": " << fitted.error().message;
            const auto approve = fitted->rule.approve(rows, {});
            // the best thresholds by group jump as the price of an approval rises
            EXPECT_LE(rate(rows, approve, text), bound + 1e-9) << name << ' ' << text;
            EXPECT_GE(rate(rows, approve, text), bound - (name == "thresholds" ? 0.05 : 0.0006))
                << name << ' ' << text;
            setting.threshold = fitted->threshold;
            setting.operate_at.reset();
            EXPECT_EQ(fit(*one, rows, values, setting)->rule.approve(rows, {}), approve);
            if (name == "none") continue;
            EXPECT_LE(one->measure(rows, approve, values)->beyond, 0.03) << name << ' ' << text;
        }
    }
}

/// Few approvals need a narrow band, and the worst rows may stand at the top: both are found.
TEST(Postprocessors, AnOperatingPointNearTheEndOfTheScoresIsFound) {
    auto rows = applicants(4000, 14);
    for (const auto* one : postprocessors()) {
        const std::string name(one->name());
        const auto values =
            values_of(name, name == "none" ? Options{} : Options{{"tolerance", 0.02}});
        auto setting = kImpact;
        setting.operate_at = fairness::parse_operating_point("approve=0.05").value();
        const auto few = fit(*one, rows, values, setting);
        ASSERT_TRUE(few) << name << ": " << few.error().message;
        const auto approved = rate(rows, few->rule.approve(rows, {}), "approve");
        EXPECT_LE(approved, 0.05 + 1e-9) << name;
        EXPECT_GT(approved, 0.02) << name;
    }
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows.p[i] > 0.96) rows.label[i] = i % 2;  // half of the best are bad
    auto setting = kImpact;
    setting.operate_at = fairness::parse_operating_point("bad_rate<=0.25").value();
    const auto none = fit(named("none"), rows, values_of("none"), setting);
    ASSERT_TRUE(none) << none.error().message;
    const auto approve = none->rule.approve(rows, {});
    EXPECT_LE(rate(rows, approve, "bad_rate"), 0.25 + 1e-9);
    EXPECT_GT(rate(rows, approve, "approve"), 0.3);
}

TEST(Postprocessors, AnOperatingPointThatTheRuleCannotKeepIsRefusedAndOneThatAsksNothingHolds) {
    const auto rows = applicants(2000, 13);
    const auto& none = named("none");
    const auto values = values_of("none");
    auto setting = kImpact;
    setting.operate_at = fairness::parse_operating_point("approve=0.00001").value();
    const auto missed = fit(none, rows, values, setting);
    EXPECT_EQ(missed.error().reason, "operating_point_missed");
    EXPECT_THAT(missed.error().message, HasSubstr("approve=1e-05"));
    setting.operate_at = fairness::parse_operating_point("approve=1").value();
    EXPECT_EQ(fit(none, rows, values, setting)->threshold, -1);
    setting.operate_at = fairness::parse_operating_point("threshold=0.9").value();
    EXPECT_EQ(fit(none, rows, values, setting)->threshold, 0) << "it does not move";

    auto unlabelled = rows;
    unlabelled.label.clear();
    setting.operate_at = fairness::parse_operating_point("fpr<=0.3").value();
    const auto refused = fit(none, unlabelled, values, setting);
    EXPECT_EQ(refused.error().reason, "no_labels");
    EXPECT_THAT(refused.error().message, HasSubstr("fpr<=0.3"));
    setting.operate_at = fairness::parse_operating_point("approve=0.5").value();
    EXPECT_TRUE(fit(none, unlabelled, values, setting)) << "approvals are counted without labels";
}

TEST(Postprocessors, ThresholdsApproveFromTheOperatingPointOnWhereNothingBinds) {
    const auto rows = applicants(6000, 3);
    const auto values = values_of("thresholds", {{"tolerance", 1.0}});
    auto calibrated = rows;  // scores that are the truth in every group
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows.group[i] == 1) {
            const double raw = std::log(rows.p[i] / (1 - rows.p[i])) - 0.8;
            calibrated.p[i] = model::sigmoid(raw);
        }
    const auto rule = fit(named("thresholds"), calibrated, values, kImpact).value().rule;
    for (const double threshold : rule.ramp.thresholds)
        EXPECT_NEAR((threshold + 1) / 2, 2.0 / 3, 0.1) << "0.5 without the price";
}

TEST(Postprocessors, TheGroupBlindRuleKeepsItWhereTheFeaturesTellTheGroup) {
    auto rows = applicants(4000, 4);
    const auto features = test::features_of(rows, 5);
    for (const char* criterion : {"statistical_parity", "equal_opportunity", "equalized_odds"}) {
        const auto& one = named(criterion);
        const auto values =
            values_of(criterion, {{"group", std::string("blind")}, {"tolerance", 0.0}});
        const auto groups = learn_groups(features, one.needs(values).group_model, 20, nullptr);
        add_posteriors(*groups, features, nullptr, rows);
        const auto fitted = fit(one, rows, values, kImpact);
        ASSERT_TRUE(fitted) << fitted.error().message;
        EXPECT_FALSE(fitted->rule.ramp.group_aware());
        const auto kept = one.measure(rows, fitted->rule.approve(rows, *groups), values).value();
        const auto plain = fit(named("none"), rows, values_of("none"), kImpact);
        auto without = rows;
        without.posteriors.clear();
        const auto free =
            fit(named("none"), without, values_of("none"), kImpact).value().rule.approve(rows, {});
        EXPECT_LT(kept.most, one.measure(rows, free, values)->most / 2) << kept.text;
    }
}

TEST(Postprocessors, CompareWithinAnAttributeAndGroupsByTheirOwnTolerance) {
    auto rows = applicants(6000, 6);
    rows.group_names = {"sex=f,age=old", "sex=m,age=old", "sex=m,age=young"};
    const auto& parity = named("statistical_parity");
    const auto within =
        values_of("statistical_parity", {{"within", std::string("age")}, {"tolerance", 0.0}});
    const auto conditional = fit(parity, rows, within, kImpact).value();
    EXPECT_EQ(conditional.strata, (std::vector<int32_t>{0, 0, 1}));
    EXPECT_NEAR(conditional.aware->rates[0], conditional.aware->rates[1], 1e-9);
    EXPECT_GT(std::abs(conditional.aware->rates[2] - conditional.aware->rates[0]), 0.1);
    const auto own =
        values_of("statistical_parity",
                  {{"tolerance", 0.0},
                   {"rho", 0.5},
                   {"group_tolerances", std::vector<std::string>{"sex=m,age=young:0.2"}}});
    const auto loose = fit(parity, rows, own, kImpact).value();
    EXPECT_NEAR(loose.aware->rates[0], 0.5, 1e-9);
    EXPECT_NEAR(loose.aware->rates[2], 0.4, 1e-9);
    // two groups with tolerances 0 and 0.2 may differ by 0.1
    EXPECT_NEAR(parity.measure(rows, loose.rule.approve(rows, {}), own)->beyond, 0, 0.02);
}

TEST(Postprocessors, TheCovarianceIsThatOfOneGroupAndTheOthers) {
    const auto rows = applicants(6000, 7);
    const auto& one = named("covariance");
    for (const std::string member : {"", "sex=m", "sex=m,age=young"}) {
        const auto values = values_of("covariance", {{"member", member}, {"tolerance", 0.01}});
        const auto fitted = fit(one, rows, values, kImpact);
        ASSERT_TRUE(fitted) << fitted.error().message;
        EXPECT_EQ(fitted->groups, 2u);
        EXPECT_LE(std::abs(fitted->aware->covariances[0]), 0.01 + 1e-12);
        EXPECT_EQ(fitted->rule.ramp.thresholds.size(), 3u) << "one for each group of the rows";
        EXPECT_EQ(fitted->rule.ramp.thresholds[1] == fitted->rule.ramp.thresholds[2],
                  member == "sex=m");
    }
    const auto refused =
        fit(one, rows, values_of("covariance", {{"member", std::string("sex=x")}}), kImpact);
    EXPECT_EQ(refused.error().reason, "no_such_member");
    EXPECT_THAT(refused.error().message, HasSubstr("sex=x"));
}

TEST(Postprocessors, BadOptionsAreNamedBeforeThereIsData) {
    const auto reason = [](const std::string& criterion, const Options& set) {
        const auto status = named(criterion).check(values_of(criterion, set));
        return status ? std::string("none") : status.error().reason;
    };
    const std::string blind = "blind";
    EXPECT_EQ(reason("covariance", {{"group", blind}}), "blind_covariance");
    EXPECT_EQ(reason("statistical_parity", {{"group", blind}, {"within", std::string("sex")}}),
              "blind_within");
    EXPECT_EQ(reason("equalized_odds", {{"gamma", 0.0}}), "bad_option");
    EXPECT_EQ(reason("statistical_parity", {{"gamma", 0.0}}), "none");
    EXPECT_EQ(reason("statistical_parity", {{"gamma", 0.0}, {"group", blind}}), "bad_option");
    EXPECT_EQ(reason("statistical_parity", {{"approve_at_least", 0.9}, {"approve_at_most", 0.1}}),
              "bad_option");
    EXPECT_EQ(reason("statistical_parity", {{"rho", std::vector<double>{0.1, 0.2}}}), "bad_option");
    for (const char* tolerance : {"sex=f", "sex=f:", "sex=f:2", "sex=f:x", "sex=f:-0.1", ""})
        EXPECT_EQ(reason("equal_opportunity",
                         {{"group_tolerances", std::vector<std::string>{tolerance}}}),
                  "bad_group_tolerance")
            << tolerance;
    EXPECT_EQ(reason("thresholds", {{"constraints", std::vector<std::string>{"fnrr"}}}),
              "unknown_rate");
    EXPECT_EQ(reason("thresholds", {{"constraints", std::vector<std::string>{}}}), "bad_option");
}

TEST(Postprocessors, GroupsThatThereWillNotBeAreNamedBeforeThereIsData) {
    const std::vector<std::string> names{"sex=f,age=old", "sex=m,age=old", "sex=m,age=young"};
    const learning::GroupsToCome known{{"sex", "age"}, names}, attributes{{"sex", "age"}, {}};
    const auto error = [](const std::string& criterion, const Options& set,
                          const learning::GroupsToCome& groups) {
        const auto status = postprocessing::check_groups(values_of(criterion, set), groups);
        return status ? std::string("none") : status.error().reason + ": " + status.error().message;
    };
    const std::string region = "region", age = "age";
    const auto texts = [](const std::string& one) { return std::vector<std::string>{one}; };
    for (const auto& groups : {known, attributes}) {
        for (const char* good : {"sex=f,age=old:0.1", "sex=m,age=young:1"})
            EXPECT_EQ(error("equalized_odds", {{"group_tolerances", texts(good)}}, groups), "none");
        EXPECT_EQ(error("equal_opportunity", {{"within", age}}, groups), "none");
        for (const std::string member : {"sex=m", "age=young", "sex=m,age=old"})
            EXPECT_EQ(error("covariance", {{"member", member}}, groups), "none") << member;
        EXPECT_EQ(error("thresholds", {{"constraints", texts("fnr@age")}}, groups), "none");
        EXPECT_EQ(error("none", {}, groups), "none");
        for (const char* bad : {"sex=f:0.1", "f:0.1", "age=old,sex=f:0.1", "region=a,age=old:0"})
            EXPECT_THAT(error("statistical_parity", {{"group_tolerances", texts(bad)}}, groups),
                        AllOf(HasSubstr("bad_group_tolerance: group_tolerances has '"),
                              HasSubstr(bad), HasSubstr("wanted is GROUP:NUMBER with one of")));
        for (const char* option : {"within", "member"})
            EXPECT_THAT(error("covariance", {{option, region}}, groups),
                        AllOf(HasSubstr("unknown_attribute: `" + std::string(option)),
                              HasSubstr("'region'; there are sex, age")));
        EXPECT_THAT(error("thresholds", {{"constraints", texts("fnr@region")}}, groups),
                    HasSubstr("unknown_attribute: `constraints` is 'fnr@region'"));
    }
    // what only the values of the attributes tell
    const Options gone{{"member", std::string("sex=x")}};
    EXPECT_THAT(error("covariance", gone, known), HasSubstr("no_such_member: member 'sex=x'"));
    EXPECT_EQ(error("covariance", gone, attributes), "none");
    const Options other{{"group_tolerances", texts("sex=x,age=old:0.1")}};
    EXPECT_THAT(error("equalized_odds", other, known), HasSubstr("sex=m,age=old; sex=m,age=young"));
    EXPECT_EQ(error("equalized_odds", other, attributes), "none");
}

TEST(Postprocessors, BadRowsAreNamed) {
    const auto reason = [](const std::string& criterion, auto change, Options set = {},
                           Setting setting = kImpact) {
        auto rows = applicants(300, 8);
        change(rows);
        const auto fitted = fit(named(criterion), rows, values_of(criterion, set), setting);
        return fitted ? std::string("none") : fitted.error().reason;
    };
    EXPECT_EQ(reason("equalized_odds", [](Rows& rows) { rows.label.clear(); }), "no_labels");
    EXPECT_EQ(reason("none", [](Rows& rows) { rows.label.clear(); }), "none");
    EXPECT_EQ(reason("none", [](Rows& rows) { rows.label.clear(); },
                     {{"calibration", std::string("platt")}}),
              "no_labels");
    EXPECT_EQ(reason("statistical_parity", [](Rows& rows) { rows.group_names = {"all"}; }),
              "no_groups");
    EXPECT_EQ(reason("statistical_parity", [](Rows& rows) { rows.group[3] = -1; }), "bad_group");
    EXPECT_EQ(reason("statistical_parity", [](Rows& rows) { rows = Rows{}; }), "no_rows");
    EXPECT_EQ(reason("statistical_parity", [](Rows&) {}, {{"group", std::string("blind")}}),
              "size_mismatch");
    EXPECT_EQ(reason("statistical_parity", [](Rows&) {}, {{"within", std::string("trade")}}),
              "unknown_attribute");
    EXPECT_EQ(reason("statistical_parity", [](Rows&) {},
                     {{"group_tolerances", std::vector<std::string>{"x:0.1"}}}),
              "bad_group_tolerance");
    EXPECT_EQ(reason("equal_opportunity", [](Rows&) {}, {}, {.slope = -1, .intercept = 0.5}),
              "other_scores");
    const auto empty = [](Rows& rows) { rows.group_names.push_back("sex=f,age=young"); };
    EXPECT_EQ(reason("thresholds", empty), "group_without_rows");
    auto rows = applicants(300, 8);
    empty(rows);
    EXPECT_THAT(fit(named("statistical_parity"), rows, values_of("statistical_parity"), kImpact)
                    .error()
                    .message,
                HasSubstr("sex=f,age=young"));
    // no favourable row of a group: it cannot be judged
    rows = applicants(300, 8);
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows.group[i] == 2) rows.label[i] = 0;
    const std::vector<double> approve(300, 0.5);
    const auto judged =
        named("equal_opportunity").measure(rows, approve, values_of("equal_opportunity"));
    EXPECT_EQ(judged.error().reason, "group_without_rows");
}

}  // namespace
}  // namespace rampart::postprocessing
