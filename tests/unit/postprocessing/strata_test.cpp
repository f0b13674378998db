#include "rampart/postprocessing/strata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "lenders.hpp"
#include "rampart/postprocessing/postprocessor.hpp"

namespace rampart::postprocessing {
namespace {

using learning::OptionValues;
using test::applicants;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

using Options = std::map<std::string, learning::OptionValue>;
using Texts = std::vector<std::string>;
using Numbers = std::vector<double>;

const Postprocessor& named(const std::string& name) { return *find_postprocessor(name).value(); }

OptionValues values_of(const std::string& criterion, const Options& set) {
    OptionValues values(named(criterion).options());
    for (const auto& [name, value] : set) EXPECT_TRUE(values.set(name, value)) << name;
    return values;
}

OptionValues within(const std::string& feature, Options set = {}) {
    set["within_feature"] = feature;
    return values_of("statistical_parity", set);
}

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create(
               {{"income", dataset::FeatureKind::kNumeric, {}},
                {"housing", dataset::FeatureKind::kCategorical, {"own", "rent", "other"}}})
        .value();
}

/// Returns the names of the strata, or what is wrong.
Texts strata_or_error(const OptionValues& values) {
    const auto strata = feature_strata(values, schema());
    if (!strata) return {strata.error().reason, strata.error().message};
    return *strata ? names_of(**strata, schema()) : Texts{};
}

/// Applicants with an income that follows the score and leans with the group, of which some are
/// missing, and a home.
dataset::Dataset features_of(const Rows& rows, uint64_t seed) {
    dataset::Dataset data = rows.table();
    data.schema = schema();
    data.columns.assign(2, {});
    base::Random random(seed);
    for (size_t i = 0; i < rows.size(); ++i) {
        const double income = 10 * rows.p[i] - rows.group[i] + random.normal();
        data.columns[0].push_back(random.bernoulli(0.05) ? std::nanf("")
                                                         : static_cast<float>(income));
        data.columns[1].push_back(static_cast<float>(random.below(3)));
    }
    return data;
}

TEST(FeatureStrata, AreCategoriesOrRangesBetweenCutPointsAndTheMissingOnes) {
    EXPECT_THAT(strata_or_error(within("income", {{"within_cuts", Numbers{20, 50}}})),
                ElementsAre("income < 20", "20 <= income < 50", "income >= 50", "income missing"));
    EXPECT_THAT(strata_or_error(within("income", {{"within_cuts", Numbers{20}},
                                                  {"within_missing", std::string("3")}})),
                ElementsAre("income < 20 or missing", "income >= 20"));
    EXPECT_THAT(
        strata_or_error(within("housing")),
        ElementsAre("housing = own", "housing = rent", "housing = other", "housing missing"));
    EXPECT_THAT(strata_or_error(within("housing", {{"within_pool", Texts{"own", "other"}},
                                                   {"within_missing", std::string("other")}})),
                ElementsAre("housing = own, other or missing", "housing = rent"));
    EXPECT_THAT(strata_or_error(values_of("statistical_parity", {})), ElementsAre());
    EXPECT_THAT(strata_or_error(values_of("thresholds", {})), ElementsAre());
}

TEST(FeatureStrata, BadOptionsAreNamedWithWhatIsAllowed) {
    const auto bad = [](const OptionValues& values, const char* option, const char* why) {
        EXPECT_THAT(strata_or_error(values),
                    ElementsAre("bad_option", AllOf(HasSubstr(option), HasSubstr(why))));
    };
    bad(within("wealth"), "`within_feature` is 'wealth'", "there are income, housing: name one");
    bad(within("income"), "`within_cuts` is empty", "as in [20000, 50000]");
    bad(within("income", {{"within_cuts", Numbers{5, 5}}}), "`within_cuts` has 5 after 5", "rise");
    bad(within("income", {{"within_cuts", Numbers{9, 5}}}), "`within_cuts` has 5 after 9", "rise");
    bad(within("income", {{"within_cuts", Numbers{16777216, 16777217}}}), "`within_cuts`",
        "cannot tell apart");
    bad(within("income", {{"within_pool", Texts{"own"}}}), "`within_pool`", "numeric");
    bad(within("housing", {{"within_cuts", Numbers{1}}}), "`within_cuts`", "categorical");
    bad(within("housing", {{"within_pool", Texts{"tent"}}}), "`within_pool` has 'tent'",
        "there are own, rent, other");
    bad(within("housing", {{"within_cuts", Numbers{1}}, {"within_pool", Texts{"own"}}}),
        "`within_cuts`", "leave one of them out");
    bad(within("housing", {{"within_missing", std::string("tent")}}), "`within_missing`",
        "leave it out");
    bad(within("income", {{"within_cuts", Numbers{1}}, {"within_missing", std::string("low")}}),
        "`within_missing` is 'low'", "leave it out");
    // before there is a schema
    const auto refused =
        named("statistical_parity").check(within("x", {{"within_cuts", Numbers{2, 1}}}));
    EXPECT_EQ(refused.error().reason, "bad_option");
    const auto blind = named("covariance")
                           .check(values_of("covariance", {{"within_feature", std::string("x")},
                                                           {"group", std::string("blind")}}));
    EXPECT_EQ(blind.error().reason, "blind_covariance");
    const auto both =
        named("statistical_parity").check(within("x", {{"group", std::string("blind")}}));
    EXPECT_EQ(both.error().reason, "blind_within");
    EXPECT_THAT(both.error().message, HasSubstr("within_feature"));
    // rates among labels are about P(favourable) calibrated by group, not by stratum
    for (const char* criterion : {"equal_opportunity", "equalized_odds", "thresholds", "none"})
        EXPECT_FALSE(OptionValues(named(criterion).options()).has("within_feature")) << criterion;
    const auto strata = feature_strata(within("housing"), schema()).value();
    EXPECT_TRUE(check_strata_count(within("housing"), *strata, 16));
    EXPECT_THAT(check_strata_count(within("housing"), *strata, 17).error().message,
                AllOf(HasSubstr("4 strata of 17 groups"), HasSubstr("at most 64")));
}

TEST(FeatureStrata, EmptyAndSmallOnesAreNamedWithGroupAndNumber) {
    auto rows = applicants(600, 3);
    const auto features = features_of(rows, 4);
    const auto fitted = [&](const Options& set) {
        const auto values = within("income", set);
        EXPECT_TRUE(add_strata(values, features, rows));
        const auto found = fit(named("statistical_parity"), rows, values, {});
        return found ? "none" : found.error().reason + ": " + found.error().message;
    };
    EXPECT_EQ(fitted({{"within_cuts", Numbers{6}}, {"within_least", int64_t{1}}}), "none");
    EXPECT_THAT(fitted({{"within_cuts", Numbers{6, 1000}}, {"within_least", int64_t{1}}}),
                AllOf(HasSubstr("empty_stratum: stratum 'income >= 1000' has none of the 600"),
                      HasSubstr("within_missing")));
    EXPECT_THAT(fitted({{"within_cuts", Numbers{6}}, {"within_least", int64_t{1000}}}),
                AllOf(HasSubstr("small_stratum: group 'sex=f,age=old' has "),
                      HasSubstr("in stratum 'income < 6', and within_least is 1000")));
    // rows without strata, and strata that no option asks for
    auto plain = applicants(600, 3);
    const auto asked = within("income", {{"within_cuts", Numbers{6}}});
    EXPECT_EQ(fit(named("statistical_parity"), plain, asked, {}).error().reason, "size_mismatch");
    const std::vector<double> approve(600, 0.5);
    EXPECT_EQ(named("statistical_parity").measure(plain, approve, asked).error().reason,
              "size_mismatch");
    EXPECT_EQ(named("statistical_parity").measure(rows, approve, within("")).error().reason,
              "size_mismatch");
}

TEST(FeatureStrata, TheCriterionHoldsInEachAndTheGapOfEachIsSaid) {
    auto rows = applicants(9000, 5);
    const auto features = features_of(rows, 6);
    for (const std::string criterion : {"statistical_parity", "covariance"}) {
        Options set{{"tolerance", 0.01},
                    {"within_feature", std::string("income")},
                    {"within_cuts", Numbers{4, 7}}};
        if (criterion == "covariance") set["member"] = std::string("age=young");
        const auto values = values_of(criterion, set);
        ASSERT_TRUE(add_strata(values, features, rows));
        Setting setting{.slope = 1.5, .intercept = -1};
        setting.operate_at = fairness::parse_operating_point("approve=0.6").value();
        const auto& one = named(criterion);
        const auto fitted = fit(one, rows, values, setting);
        ASSERT_TRUE(fitted) << criterion << fitted.error().message;
        EXPECT_EQ(fitted->rule.ramp.thresholds.size(), 12u);
        const auto approve = fitted->rule.approve(rows, {});
        const auto kept = one.measure(rows, approve, values).value();
        EXPECT_LE(kept.beyond, 1e-9) << kept.text;
        for (const char* stratum :
             {"; by stratum: income < 4 0.0", "4 <= income < 7 0.0", "income missing 0.0"})
            EXPECT_THAT(kept.text, HasSubstr(stratum));
        // the wrong variant: parity over all rows
        auto without = rows;
        without.strata.reset();
        without.stratum.clear();
        without.stratum_names.clear();
        for (const char* key : {"within_feature", "within_cuts"}) set.erase(key);
        const auto plain = fit(one, without, values_of(criterion, set), setting).value();
        const auto overall = plain.rule.approve(without, {});
        EXPECT_GT(one.measure(rows, overall, values)->beyond, 0.02);
        EXPECT_LE(one.measure(without, overall, values_of(criterion, set))->beyond, 1e-9);
    }
}

TEST(FeatureStrata, GoWithAnAttributeAndWithTolerancesByGroup) {
    auto rows = applicants(9000, 7);
    const auto features = features_of(rows, 8);
    const auto values = within("income", {{"within_cuts", Numbers{6}},
                                          {"within", std::string("age")},
                                          {"tolerance", 0.0},
                                          {"group_tolerances", Texts{"sex=m,age=old:0.1"}}});
    ASSERT_TRUE(add_strata(values, features, rows));
    const auto& parity = named("statistical_parity");
    const auto fitted = fit(parity, rows, values, {}).value();
    // three strata by income, in each of which the old are one and the young another
    EXPECT_THAT(fitted.strata, ElementsAre(0, 0, 1, 2, 2, 3, 4, 4, 5));
    EXPECT_EQ(fitted.params.epsilons, (Numbers{0, 0.1, 0, 0, 0.1, 0, 0, 0.1, 0}));
    for (size_t s = 0; s < 3; ++s)
        EXPECT_LE(std::abs(fitted.aware->rates[3 * s] - fitted.aware->rates[3 * s + 1]),
                  0.05 + 1e-9);
    EXPECT_LE(parity.measure(rows, fitted.rule.approve(rows, {}), values)->beyond, 1e-9);
}

/// With all categories in one stratum it is parity without strata, to the bit.
RC_GTEST_PROP(FeatureStrata, OneStratumIsPlainParityToTheBit, (uint64_t seed)) {
    base::Random random(seed);
    auto rows = applicants(200 + random.below(600), random.next());
    const std::string criterion = random.bernoulli(0.5) ? "statistical_parity" : "covariance";
    Options set{{"tolerance", random.bernoulli(0.3) ? 0.0 : random.uniform(0, 0.2)},
                {"gamma", random.bernoulli(0.3) ? 0.0 : random.uniform(0.01, 1)}};
    Setting setting{.slope = 1.5, .intercept = -1, .threshold = random.uniform(-0.3, 0.3)};
    if (random.bernoulli(0.3))
        setting.operate_at = fairness::parse_operating_point("approve=0.5").value();
    const auto plain = fit(named(criterion), rows, values_of(criterion, set), setting);
    set["within_feature"] = std::string("housing");
    set["within_pool"] = Texts{"own", "rent", "other"};
    set["within_missing"] = std::string("own");
    const auto values = values_of(criterion, set);
    auto stratified = rows;
    RC_ASSERT(add_strata(values, features_of(rows, 9), stratified).has_value());
    RC_ASSERT(stratified.stratum_names.size() == 1u);
    const auto one = fit(named(criterion), stratified, values, setting);
    RC_ASSERT(plain.has_value() == one.has_value());
    if (!plain) return;
    RC_ASSERT(plain->rule.ramp.thresholds == one->rule.ramp.thresholds);
    RC_ASSERT(plain->rule.ramp.ties == one->rule.ramp.ties);
    RC_ASSERT(plain->threshold == one->threshold);
    const auto approve = plain->rule.approve(rows, {});
    RC_ASSERT(approve == one->rule.approve(stratified, {}));
    const auto a = named(criterion).measure(rows, approve, values_of(criterion, {})).value();
    const auto b = named(criterion).measure(stratified, approve, values).value();
    RC_ASSERT(a.most == b.most);
}

/// A policy decides each row as approve() says, to the bit where it computes the same score.
TEST(FeatureStrata, APolicyDecidesAsTheRuleSaysOfEachRow) {
    auto rows = applicants(3000, 10);
    const auto features = features_of(rows, 11);
    for (const double gamma : {0.0, 0.3}) {
        const auto values = within("income", {{"within_cuts", Numbers{4, 7}}, {"gamma", gamma}});
        ASSERT_TRUE(add_strata(values, features, rows));
        const auto fitted =
            fit(named("statistical_parity"), rows, values, {.slope = 1.5, .intercept = -1}).value();
        model::LearnedLink link;
        link.ensemble.base_score = 0.7;
        fitted.rule.put_on(link, {});
        const auto policy =
            model::Policy::create(features.schema, {link}, rows.group_names, {}).value();
        auto same = rows;
        same.p.assign(rows.size(), model::sigmoid(0.7));
        const auto approve = fitted.rule.approve(same, {});
        std::set<double> seen;
        for (size_t i = 0; i < rows.size(); ++i) {
            const float row[] = {features.columns[0][i], features.columns[1][i]};
            const auto decided = policy.evaluate(row, static_cast<size_t>(rows.group[i])).approve;
            ASSERT_EQ(decided, approve[i]) << i;
            seen.insert(decided);
        }
        EXPECT_GE(seen.size(), gamma == 0 ? 2u : 8u) << "the cells differ";
    }
}

}  // namespace
}  // namespace rampart::postprocessing
