#include "rampart/attribution/cited.hpp"

#include <gmock/gmock.h>

#include <set>

#include "made_up.hpp"
#include "rampart/decision/reason_codes.hpp"

namespace rampart::attribution {
namespace {

using testing::group_for;
using testing::kParts;
using testing::MadeUp;
using Names = std::vector<size_t>;

/// A P over features of 0 (the applicant's) and 1 (the reference row's).
struct Case {
    std::function<double(std::span<const float>)> p;
    size_t features = 3;

    Cited cited(double u, double p_exploit = 0) const {
        const std::vector<float> row(features, 0), reference(features, 1);
        std::vector<Unit> units;
        for (size_t j = 0; j < features; ++j) units.push_back({fmt::format("f{}", j), {j}});
        const auto schema = testing::schema_of(features);
        const ReferenceSet set{.width = features, .rows = reference};
        const auto values = shapley_values(p, row, set, units, 1);
        return cited_reasons(p, row, reference, units, values, p_exploit, u);
    }
};

double weighted(std::span<const float> x, std::initializer_list<double> weights) {
    double sum = 0;
    size_t j = 0;
    for (const double weight : weights) sum += weight * static_cast<double>(x[j++]);
    return std::clamp(sum, 0.0, 1.0);
}

TEST(Cited, TheSmallestSetThatReachesTheDrawIsCited) {
    const Case additive{[](auto x) { return weighted(x, {0.2, 0.6, 0.3}); }};
    EXPECT_EQ(additive.cited(0.5).units, Names{1});
    const auto two = additive.cited(0.7);
    EXPECT_EQ(two.units, (Names{1, 2}));
    EXPECT_TRUE(two.reaches);
    EXPECT_NEAR(two.p_restored, 0.9, 1e-12);
    EXPECT_EQ(two.by, DeclinedBy::kFeatures);
    EXPECT_EQ(additive.cited(0.95).units, (Names{1, 2, 0}));
    // u itself is not reached by P = u
    const Case exact{[](auto x) { return weighted(x, {0.5, 0.25, 0}); }};
    EXPECT_EQ(exact.cited(0.5).units, (Names{0, 1}));
    EXPECT_FALSE(exact.cited(0.75).reaches);
}

TEST(Cited, TheStrongestAloneComesFirstAndShapleyOrdersTheRest) {
    // 0 and 1 together raise P most, so have the larger Shapley values; alone 2 raises more
    const Case joint{[](auto x) {
        return 0.2 * static_cast<double>(x[2]) + (x[0] == 1 && x[1] == 1 ? 0.7
                                                  : x[0] == 1            ? 0.1
                                                                         : 0.0);
    }};
    EXPECT_EQ(joint.cited(0.85).units, (Names{2, 0, 1}));
    EXPECT_EQ(joint.cited(0.5).units, (Names{0, 1}));
}

TEST(Cited, TiesAreBroughtIntoTheOrderOfTheSchema) {
    const Case same{[](auto x) { return weighted(x, {0.3, 0.3, 0.3}); }};
    EXPECT_EQ(same.cited(0.2).units, Names{0});
    EXPECT_EQ(same.cited(0.5).units, (Names{0, 1}));
}

TEST(Cited, WhatRaisesPIsNeverCited) {
    // restoring 2 lowers P
    const Case other{[](auto x) { return weighted(x, {0.5, 0.2, -0.2}); }};
    const auto cited = other.cited(0.6);
    EXPECT_EQ(cited.units, (Names{0, 1}));
    EXPECT_TRUE(cited.reaches);
    EXPECT_NEAR(cited.p_reference, 0.5, 1e-12);
}

TEST(Cited, MoreThanFourAreAmongOthers) {
    const Case many{[](auto x) { return weighted(x, {0.1, 0.2, 0.15, 0.2, 0.12, 0.2}); }, 6};
    const auto cited = many.cited(0.9);
    EXPECT_EQ(cited.units, (Names{1, 3, 5, 2}));
    EXPECT_FALSE(cited.reaches);
    EXPECT_TRUE(cited.others);
    EXPECT_NEAR(cited.p_restored, 0.75, 1e-12);
    EXPECT_FALSE(many.cited(0.7).others);
}

TEST(Cited, WhatAddsNothingIsNotCited) {
    // 0 alone gives all that there is to gain, and the draw is out of reach
    const Case plateau{[](auto x) { return x[0] == 1 ? 0.4 : x[1] == 1 && x[2] == 1 ? 0.4 : 0.0; }};
    const auto cited = plateau.cited(0.6);
    EXPECT_EQ(cited.units, Names{0});
    EXPECT_FALSE(cited.others);
}

TEST(Cited, ADeclineByTheDrawIsSaidToBeOne) {
    const Case top{[](auto) { return 0.85; }};
    const auto draw = top.cited(0.9, 0.85);
    EXPECT_EQ(draw.by, DeclinedBy::kDraw);
    EXPECT_TRUE(draw.units.empty());
    const Case near{[](auto x) { return 0.6 + weighted(x, {0.2, 0, 0}); }};
    EXPECT_EQ(near.cited(0.9, 0.6).by, DeclinedBy::kDraw);
    EXPECT_EQ(near.cited(0.9, 0.6).units, Names{0});
    EXPECT_EQ(near.cited(0.7, 0.6).by, DeclinedBy::kFeaturesAndDraw);
    // restored, 0 raises P above that of the reference row, which 1 lowers
    const Case above{[](auto x) {
        return 0.5 + weighted(x, {0.3, 0, 0}) - 0.2 * static_cast<double>(x[1]);
    }};
    EXPECT_EQ(above.cited(0.7, 0.5).by, DeclinedBy::kFeaturesAndDraw);
    EXPECT_TRUE(above.cited(0.7, 0.5).reaches);
    EXPECT_LT(above.cited(0.7, 0.5).p_reference, 0.7);
    const Case never{[](auto x) { return weighted(x, {0.2, 0, 0}); }};
    EXPECT_EQ(never.cited(0.9).by, DeclinedBy::kFeatures) << "no draw would have approved";
    const auto explored = near.cited(0.7, 0.75);
    EXPECT_EQ(explored.by, DeclinedBy::kExploration);
    EXPECT_TRUE(explored.units.empty());
    EXPECT_EQ(to_string(DeclinedBy::kFeaturesAndDraw), "features_and_draw");
}

/// Returns what is wrong with the claim of a cited set, by P alone; empty: it holds.
std::string broken(const Probability& p, std::span<const float> row,
                   std::span<const float> reference, std::span<const Unit> units,
                   const ShapleyValues& values, const Cited& cited, double u) {
    const auto with = [&](const std::vector<size_t>& numbers) {
        std::vector<float> x(row.begin(), row.end());
        for (const size_t unit : numbers) x = restored(x, reference, units[unit]);
        return p(x);
    };
    if (cited.units.size() > kMostCited) return "more than four";
    const double restored_p = with(cited.units);
    if (restored_p != cited.p_restored || cited.reaches != (restored_p > u)) return "another P";
    double strongest = -1;
    for (const size_t unit : cited.units) {
        if (values.lowered[unit] <= 0) return "a unit that moved P the other way";
        auto less = cited.units;
        std::erase(less, unit);
        const double p_less = with(less);
        if (cited.reaches ? p_less > u : p_less >= restored_p) return "one may be left out";
        strongest = std::max(strongest, with({unit}));
    }
    if (!cited.units.empty() && with({cited.units.front()}) != strongest)
        return "not the strongest first";
    for (size_t i = 2; i < cited.units.size(); ++i)
        if (values.lowered[cited.units[i]] > values.lowered[cited.units[i - 1]] + 1e-9)
            return "not by Shapley value";
    if (!cited.exact) return {};
    // every set of at most four that lower P
    std::vector<size_t> candidates;
    for (size_t unit = 0; unit < units.size(); ++unit)
        if (values.lowers(unit)) candidates.push_back(unit);
    for (size_t set = 0; set < size_t{1} << candidates.size(); ++set) {
        std::vector<size_t> numbers;
        for (size_t i = 0; i < candidates.size(); ++i)
            if ((set >> i & 1) != 0) numbers.push_back(candidates[i]);
        if (numbers.size() > kMostCited) continue;
        const double other = with(numbers);
        if (cited.reaches ? other > u && numbers.size() < cited.units.size() : other > restored_p)
            return "another set does more";
    }
    return {};
}

/// Returns whether the codes of the last link's score cite the strongest feature of theirs first.
bool by_score_holds(const Probability& p, std::span<const float> row,
                    std::span<const float> reference, const model::Policy& policy,
                    const model::PolicyOutput& output, double u) {
    const auto codes = decision::ReasonCodes::create(policy);
    if (!codes) return false;
    double first = -1, strongest = -1;
    for (const auto& code : codes->explain(row, output, output.approve, u)) {
        if (!code.starts_with(decision::kFeatureReasonPrefix)) continue;
        const auto name = code.substr(decision::kFeatureReasonPrefix.size());
        const auto j = policy.schema().find(name).value();
        const double alone = p(restored(row, reference, {name, {j}}));
        if (first < 0) first = alone;
        strongest = std::max(strongest, alone);
    }
    return first >= 0 && first == strongest && first > output.approve;
}

struct Tally {
    size_t declines = 0, cited = 0, several = 0, reached = 0, compared = 0, by_score_fails = 0;
    std::set<DeclinedBy> kinds;
};

/// Declines rows of a made-up policy by draws, and checks what is said of each.
void try_policy(uint64_t seed, size_t links, size_t features, int rows, Tally& tally) {
    MadeUp made(seed, features);
    const auto policy = made.policy(links, kParts[seed % std::size(kParts)]);
    const auto group = group_for(policy, seed % 2);
    const auto p = served_probability(policy, group, true);
    const auto units = units_of(policy).value();
    auto set = choose_reference_set(p, policy.schema(), made.rows(100)).value();
    set.rows.resize(std::min<size_t>(set.size(), 4) * set.width);
    for (int i = 0; i < rows; ++i) {
        const auto row = made.row();
        const auto output = policy.evaluate(row, group);
        const double u = made.random().uniform();
        if (u < output.approve) continue;
        ++tally.declines;
        const auto reference = set.row(nearest(set, policy.schema(), row));
        const auto values = shapley_values(p, row, set, units, seed);
        const auto cited = cited_reasons(p, row, reference, units, values, output.exploit, u);
        const auto fault = broken(p, row, reference, units, values, cited, u);
        ASSERT_EQ(cited.by == DeclinedBy::kExploration ? "" : fault, "")
            << "seed " << seed << " row " << i;
        tally.kinds.insert(cited.by);
        tally.cited += !cited.units.empty();
        tally.several += cited.units.size() > 1;
        tally.reached += cited.reaches;
        if (cited.units.empty() || links < 2) continue;
        // the method before, with the same reference row
        const auto old =
            model::Policy::create(policy.schema(), policy.links(), policy.group_names(), {},
                                  {.reasons = {{model::ReasonMethod::kShapley,
                                                {reference.begin(), reference.end()}}}})
                .value();
        ++tally.compared;
        tally.by_score_fails += !by_score_holds(p, row, reference, old, output, u);
    }
}

TEST(Cited, TheClaimHoldsForTenThousandDeclinesByPoliciesOfEveryKind) {
    Tally tally;
    for (uint64_t seed = 0; tally.declines < 10'000; ++seed) {
        ASSERT_LT(seed, 5000u);
        ASSERT_NO_FATAL_FAILURE(try_policy(seed, 1 + seed / 8 % 6, 7, 40, tally));
    }
    EXPECT_GT(tally.cited, 5000u);
    EXPECT_GT(tally.several, 1000u);
    EXPECT_GT(tally.reached, 3000u);
    EXPECT_EQ(tally.kinds.size(), 4u) << "features, both, draw, exploration";
    // the reasons of the last link's score: wrong in the first one in more than a quarter
    EXPECT_GT(tally.compared, 3000u);
    EXPECT_GT(tally.by_score_fails, tally.compared / 4);
}

TEST(Cited, AboveTwelveUnitsTheGreedySetKeepsTheClaimButForBeingSmallest) {
    // 2 to 15 raise P a little each; 0 and 1 only together, and then to 1
    const Case crowd{[](auto x) {
                         double sum = x[0] == 1 && x[1] == 1 ? 0.9 : 0.0;
                         for (size_t j = 2; j < x.size(); ++j)
                             sum += 0.05 * static_cast<double>(x[j]);
                         return std::min(sum, 1.0);
                     },
                     16};
    const auto cited = crowd.cited(0.18);
    EXPECT_FALSE(cited.exact);
    EXPECT_TRUE(cited.reaches);
    EXPECT_EQ(cited.units.size(), 4u);  // 0 and 1 would do
    Tally tally;
    for (uint64_t seed = 0; seed < 40; ++seed)
        ASSERT_NO_FATAL_FAILURE(try_policy(seed, 3, 30, 5, tally));
    EXPECT_GT(tally.cited, 20u);
}

/// 0 to 3 raise P by 0.5, but only together; the others a little; the last bounds it.
Case together(size_t features) {
    return {[](auto x) {
                double sum = 0.1;
                if (x[0] + x[1] + x[2] + x[3] == 4) sum += 0.5;
                for (size_t j = 4; j + 1 < x.size(); ++j) sum += 0.01 * static_cast<double>(x[j]);
                return x[x.size() - 1] == 1 ? std::min(sum, 0.3) : sum;
            },
            features};
}

TEST(Cited, ADeclineIsByTheDrawOnlyIfNoSetReachesIt) {
    // greedily, the four are not found: none of them raises P alone
    const auto some = together(18).cited(0.5, 0.1);
    ASSERT_LE(some.p_reference, 0.5);
    EXPECT_EQ(some.by, DeclinedBy::kFeaturesAndDraw);
    EXPECT_TRUE(some.reaches);
    EXPECT_TRUE(some.exact);
    EXPECT_THAT(some.units, ::testing::UnorderedElementsAre(0, 1, 2, 3));
    const auto none = together(18).cited(0.95, 0.1);
    EXPECT_EQ(none.by, DeclinedBy::kDraw) << "all sets were looked at";
    EXPECT_TRUE(none.exact);
}

TEST(Cited, WhereNotEverySetIsLookedAtADeclineIsNotSaidToBeByTheDrawAlone) {
    const auto many = together(30).cited(0.5, 0.1);
    ASSERT_LE(many.p_reference, 0.5);
    EXPECT_FALSE(many.exact);
    EXPECT_FALSE(many.reaches);
    EXPECT_EQ(many.by, DeclinedBy::kFeaturesAndDraw);
}

TEST(Cited, AGreedySetHasNothingThatIsNotNeeded) {
    // 15 leads: it raises P most alone, and adds nothing where two of 0, 1 and 2 are restored
    const Case misled{[](auto x) {
                          const auto of_three = static_cast<double>(x[0] + x[1] + x[2]);
                          double sum = 0.2 * of_three;
                          if (x[15] == 1 && of_three < 2) sum += of_three < 1 ? 0.25 : 0.06;
                          for (size_t j = 3; j < 15; ++j) sum += 0.001 * static_cast<double>(x[j]);
                          return std::min(sum, 1.0);
                      },
                      16};
    const auto cited = misled.cited(0.55);
    EXPECT_FALSE(cited.exact);
    EXPECT_TRUE(cited.reaches);
    EXPECT_THAT(cited.units, ::testing::UnorderedElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace rampart::attribution
