#include "rampart/counterfactuals/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <set>

#include "rampart/decision/encode.hpp"
#include "unit/attribution/made_up.hpp"

namespace rampart::counterfactuals {
namespace {

using attribution::Probability;
using attribution::served_probability;
using attribution::testing::group_for;
using attribution::testing::kParts;
using attribution::testing::MadeUp;
using attribution::testing::schema_of;

/// A change, an applicant and a draw that nothing but enumeration looks at.
struct Case {
    const Probability& p;
    const dataset::FeatureSchema& schema;
    std::span<const float> row;
    const DeclaredChanges& declared;
    double u;
};

struct Way {
    std::set<size_t> features{};
    double distance = 0;
};

/// Returns the values that a change allows, all of them, each with its distance.
std::vector<std::pair<float, double>> allowed(const Case& of, const Change& change) {
    const size_t j = of.schema.find(change.feature).value();
    const float x = of.row[j];
    std::vector<std::pair<float, double>> values;
    if (std::isnan(x)) return values;
    for (const auto& category : change.categories) {
        const float value = of.schema.encode_text(j, category).value();
        if (value != x) values.emplace_back(value, change.distance);
    }
    if (!change.categories.empty()) return values;
    for (int k = 0; change.from + k * change.step <= change.to + 1e-9; ++k) {
        const auto value = static_cast<float>(change.from + k * change.step);
        if (value == x || (value > x && change.direction == Direction::kFall) ||
            (value < x && change.direction == Direction::kRise))
            continue;
        values.emplace_back(
            value, std::abs(static_cast<double>(value) - static_cast<double>(x)) / change.scale);
    }
    return values;
}

/// Tries every combination of every declared value; adds those that reach the draw.
void enumerate(const Case& of, size_t at, std::vector<float>& x, Way& way, std::vector<Way>& out) {
    if (at == of.declared.changes.size()) {
        if (!way.features.empty() && of.p(x) > of.u) out.push_back(way);
        return;
    }
    enumerate(of, at + 1, x, way, out);
    if (way.features.size() == of.declared.together) return;
    const auto& change = of.declared.changes[at];
    const size_t j = of.schema.find(change.feature).value();
    for (const auto& [value, distance] : allowed(of, change)) {
        x[j] = value;
        way.features.insert(j);
        way.distance += distance;
        enumerate(of, at + 1, x, way, out);
        way.distance -= distance;
        way.features.erase(j);
        x[j] = of.row[j];
    }
}

std::vector<Way> all_ways(const Case& of) {
    std::vector<float> x(of.row.begin(), of.row.end());
    Way way;
    std::vector<Way> out;
    enumerate(of, 0, x, way, out);
    std::stable_sort(out.begin(), out.end(),
                     [](const Way& a, const Way& b) { return a.distance < b.distance - 1e-9; });
    return out;
}

/// Returns the nearest, then the nearest without all features of one before, and so on.
std::vector<Way> wanted(const std::vector<Way>& ways, size_t most) {
    std::vector<Way> out;
    for (const auto& way : ways) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const Way& one) {
            return std::includes(way.features.begin(), way.features.end(), one.features.begin(),
                                 one.features.end());
        });
        if (!known && out.size() < most) out.push_back(way);
    }
    return out;
}

std::set<size_t> features_of(const Answer& answer) {
    std::set<size_t> features;
    for (const auto& changed : answer.changed) features.insert(changed.feature);
    return features;
}

/// Returns what is wrong with one answer, by the declaration and P alone; empty: nothing.
std::string fault_of(const Case& of, const Answer& answer) {
    std::vector<float> x(of.row.begin(), of.row.end());
    for (const auto& [feature, value] : answer.changed) {
        const auto& name = of.schema.features()[feature].name;
        const auto change = std::find_if(of.declared.changes.begin(), of.declared.changes.end(),
                                         [&](const auto& one) { return one.feature == name; });
        if (change == of.declared.changes.end()) return "not declared: " + name;
        const auto values = allowed(of, *change);
        if (std::none_of(values.begin(), values.end(),
                         [&, wished = value](const auto& one) { return one.first == wished; }))
            return fmt::format("{} may not become {}", name, value);
        x[feature] = value;
    }
    if (features_of(answer).size() != answer.changed.size()) return "a feature twice";
    if (answer.changed.empty() || answer.changed.size() > of.declared.together) return "too many";
    if (of.p(x) != answer.p || answer.p <= of.u) return "P is another, or not above the draw";
    for (const auto& [feature, value] : answer.changed) {
        auto less = x;
        less[feature] = of.row[feature];
        if (of.p(less) > of.u) return "one may be left as it was";
    }
    return {};
}

/// Declares changes of most features, with directions, bounds and scales by chance.
DeclaredChanges declare(base::Random& random, const dataset::FeatureSchema& schema) {
    DeclaredChanges declared{.product = "p", .together = 1 + random.below(4)};
    for (const auto& spec : schema.features()) {
        if (random.bernoulli(0.2)) continue;
        Change change{.feature = spec.name};
        if (spec.kind == dataset::FeatureKind::kCategorical) {
            change.categories = {"a", "c"};
            if (random.bernoulli(0.5)) change.categories.emplace_back("b");
            change.distance = random.uniform(0.2, 3);
        } else {
            change.direction = static_cast<Direction>(random.below(3));
            change.from = static_cast<double>(random.below(2));
            change.to = static_cast<double>(3 + random.below(3));
            change.step = std::array{0.5, 0.75, 1.0}[random.below(3)];  // `to` may be no step
            change.scale = random.uniform(0.3, 3);
        }
        declared.changes.push_back(std::move(change));
    }
    if (declared.changes.empty()) declared.changes.push_back({"f0", Direction::kAny, 0, 4});
    return declared;
}

struct Tally {
    size_t declines = 0, found = 0, none = 0, several = 0, joint = 0;
};

void try_policy(uint64_t seed, size_t links, int rows, Tally& tally) {
    MadeUp made(seed, 5);
    const auto policy = made.policy(links, kParts[seed % std::size(kParts)]);
    const auto p = served_probability(policy, group_for(policy, seed % 2), true);
    for (int i = 0; i < rows; ++i) {
        const auto row = made.row();
        const auto declared = declare(made.random(), policy.schema());
        const double least = p(row), u = made.random().uniform(least, 1);
        if (u >= 1) continue;
        const Case of{p, policy.schema(), row, declared, u};
        const auto searched = find_changes(p, policy, row, declared, u, {4, kMaxTried});
        const auto ways = all_ways(of);
        const auto expected = wanted(ways, 4);
        ++tally.declines;
        ASSERT_EQ(searched.answers.size(), expected.size()) << "seed " << seed << " row " << i;
        for (size_t k = 0; k < expected.size(); ++k) {
            EXPECT_NEAR(searched.answers[k].distance, expected[k].distance, 1e-9)
                << "seed " << seed << " row " << i << " answer " << k;
            EXPECT_EQ(features_of(searched.answers[k]), expected[k].features);
            ASSERT_EQ(fault_of(of, searched.answers[k]), "") << "seed " << seed << " row " << i;
            tally.joint += expected[k].features.size() > 1;
        }
        EXPECT_EQ(searched.p, least);
        if (expected.empty()) {
            EXPECT_TRUE(searched.complete) << "none exists";
            EXPECT_LE(searched.most_p, u);
        }
        tally.found += !expected.empty();
        tally.none += expected.empty();
        tally.several += expected.size() > 1;
    }
}

TEST(FindChanges, AreThoseOfEnumerationForPoliciesOfEveryKind) {
    Tally tally;
    for (uint64_t seed = 0; seed < 1600; ++seed)
        ASSERT_NO_FATAL_FAILURE(try_policy(seed, 1 + seed / 8 % 5, 4, tally));
    EXPECT_GT(tally.declines, 6000u);
    EXPECT_GT(tally.found, 1000u);
    EXPECT_GT(tally.none, 1000u);
    EXPECT_GT(tally.several, 400u);
    EXPECT_GT(tally.joint, 400u);
}

TEST(FindChanges, WhereTheWorkEndsBeforeNothingNearerWasLeftOut) {
    size_t cut = 0, found_first = 0;
    for (uint64_t seed = 0; seed < 120; ++seed) {
        MadeUp made(seed, 5);
        const auto policy = made.policy(1 + seed % 4, kParts[seed % std::size(kParts)]);
        const auto p = served_probability(policy, group_for(policy), true);
        const auto row = made.row();
        const auto declared = declare(made.random(), policy.schema());
        const double u = made.random().uniform(p(row), 1);
        const Case of{p, policy.schema(), row, declared, u};
        const auto searched = find_changes(p, policy, row, declared, u, {2, 6});
        EXPECT_LE(searched.tried, 6u);
        const auto ways = wanted(all_ways(of), 2);
        for (size_t k = 0; k < searched.answers.size(); ++k)
            EXPECT_NEAR(searched.answers[k].distance, ways.at(k).distance, 1e-9);
        if (searched.complete || searched.answers.size() == 2) continue;
        ++cut;
        found_first += !searched.answers.empty();
        if (ways.size() == searched.answers.size()) continue;
        EXPECT_GE(ways[searched.answers.size()].distance, searched.tried_to - 1e-9);
    }
    EXPECT_GT(cut, 20u);
    EXPECT_GT(found_first, 3u);
}

/// Makes a declared rule: P from 0.2 at f0 = 0 to 1 at f0 = 4; f1 counts nothing.
model::Policy rule(model::Exploration exploration = {}) {
    std::vector<model::Link> links{model::BootstrapLink{"f0", {{0, 0.2}, {4, 1}}, 0.4}};
    if (exploration.mode != model::ExplorationMode::kNone) {
        model::LearnedLink link;  // score 0.5, f = 0, above the threshold
        link.ramp = {0, 0, {-0.5}, {1.0}};
        link.exploration = exploration;
        links = {link};
    }
    return model::Policy::create(schema_of(3), std::move(links), {}, {}).value();
}
DeclaredChanges only(Change change) {
    return {.product = "p", .together = 2, .changes = {std::move(change)}};
}

TEST(FindChanges, APThatOnlyEqualsTheDrawIsNotEnough) {
    const auto policy = rule();
    const auto p = served_probability(policy, {}, true);
    const std::vector<float> row{1, 1, 0};
    const double at_two = p(std::vector<float>{2, 1, 0});
    const auto declared = only({"f0", Direction::kRise, 0, 4, 1, 2});
    const auto searched = find_changes(p, policy, row, declared, at_two);
    ASSERT_EQ(searched.answers.size(), 1u);
    EXPECT_EQ(searched.answers[0].changed[0].value, 3);
    EXPECT_EQ(searched.answers[0].distance, 1) << "two steps by a scale of 2";
}

TEST(FindChanges, OnlyDeclaredDirectionsAndFeaturesCount) {
    const auto policy = rule();
    const auto p = served_probability(policy, {}, true);
    const std::vector<float> row{1, 1, 0};
    const auto fall = find_changes(p, policy, row, only({"f0", Direction::kFall, 0, 4}), 0.5);
    EXPECT_TRUE(fall.answers.empty());
    EXPECT_TRUE(fall.complete);
    const auto other = find_changes(p, policy, row, only({"f1", Direction::kAny, 0, 4}), 0.5);
    EXPECT_TRUE(other.answers.empty());
    EXPECT_TRUE(other.complete);
    EXPECT_EQ(other.tried, 0u) << "no link reads it";
    const auto nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> missing{nan, 1, 0};
    const auto unknown = find_changes(p, policy, missing, only({"f0", Direction::kAny, 0, 4}), 0.5);
    EXPECT_TRUE(unknown.answers.empty()) << "a missing value is not changed";
    EXPECT_EQ(unknown.missing, std::vector<size_t>{0});
    const std::vector<float> other_missing{1, nan, nan};
    EXPECT_TRUE(find_changes(p, policy, other_missing, only({"f1", Direction::kAny, 0, 4}), 0.5)
                    .missing.empty())
        << "P does not depend on it";
    // out of its bounds, a value may be brought into them
    const std::vector<float> low{-3, 1, 0};
    const auto into = find_changes(p, policy, low, only({"f0", Direction::kAny, 1, 4}), 0.3);
    ASSERT_EQ(into.answers.size(), 1u);
    EXPECT_EQ(into.answers[0].changed[0].value, 1);
}

TEST(FindChanges, WhatHasAllOfAnAnswerIsNotTried) {
    const auto policy = rule();
    const auto p = served_probability(policy, {}, true);
    const std::vector<float> row{1, 1, 0};
    const auto searched =
        find_changes(p, policy, row, only({"f0", Direction::kRise, 0, 4, 0.001, 1}), 0.6);
    EXPECT_EQ(searched.answers.size(), 1u);
    EXPECT_TRUE(searched.complete);
    EXPECT_NEAR(static_cast<double>(searched.tried), 1000, 2) << "of 3,000, up to f0 = 2";
    EXPECT_EQ(searched.passed_over, 0u);
}

TEST(FindChanges, WhereExplorationDeclinesSomeOfAllNoneMayExist) {
    const auto policy = rule({model::ExplorationMode::kTwoSided, 0.05});
    const auto p = served_probability(policy, {}, true);
    const std::vector<float> row{1, 1, 0};
    const auto searched = find_changes(p, policy, row, only({"f0", Direction::kAny, 0, 4}), 0.97);
    EXPECT_TRUE(searched.answers.empty());
    EXPECT_TRUE(searched.complete);
    EXPECT_EQ(searched.most_p, 0.95) << "this draw declines every applicant";
}

TEST(FindChanges, BetweenThresholdsOneValueStandsForAll) {
    MadeUp made(7, 5);
    const auto policy = made.policy(1, attribution::testing::Part::kTrees);
    const auto p = served_probability(policy, {}, true);
    DeclaredChanges declared{.product = "p", .together = 2};
    for (const char* name : {"f0", "f1", "f3"})
        declared.changes.push_back({name, Direction::kAny, 0, 4, 0.0005, 1});
    const std::vector<float> row{1, 1, 0, 1, 1};
    const auto searched = find_changes(p, policy, row, declared, 1);  // out of reach
    EXPECT_TRUE(searched.complete);
    EXPECT_LT(searched.tried, 200u) << "of 8,000 values a feature";
    EXPECT_GT(searched.tried, 3u);
}

TEST(ChangedApplication, IsEncodedAsTheRowThatWasTried) {
    const auto schema = schema_of(3);
    domain::Application application;
    application.features = {{"f2", std::string("a")}, {"f0", 1.25}, {"f1", std::monostate{}}};
    const Answer answer{.changed = {{0, 0.35f}, {2, 2}}};
    const auto changed = changed_application(application, schema, answer);
    const auto row = decision::encode_row(changed, schema).value();
    EXPECT_EQ(row[0], 0.35f);
    EXPECT_EQ(changed.features[1].value, domain::FeatureValue(0.35)) << "as it was declared";
    EXPECT_TRUE(std::isnan(row[1]));
    EXPECT_EQ(row[2], 2);
    EXPECT_EQ(std::get<std::string>(changed.features[0].value), "c");
    EXPECT_EQ(application.features[1].value, domain::FeatureValue(1.25));
}

}  // namespace
}  // namespace rampart::counterfactuals
