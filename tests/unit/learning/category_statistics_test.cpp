#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "rampart/base/random.hpp"
#include "rampart/dataset/ordered_statistics.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/stats/metrics.hpp"

/// Features with more categories than bins: learners split them by ordered target statistics.
namespace rampart::learning {
namespace {

using dataset::Dataset;
using dataset::FeatureKind;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kTowns = 300;
const float kMissing = std::nanf("");

/// Rows of `x`, which says nothing, and `town`, whose effects on the log-odds have this spread.
/// Each town has 20 rows. Equal seeds have equal towns.
struct World {
    explicit World(double spread, uint64_t seed) {
        base::Random random(seed);
        for (size_t i = 0; i < kTowns; ++i) effect.push_back(spread * random.normal());
    }
    Dataset rows(uint64_t seed) const {
        base::Random random(base::mix64(seed));
        Dataset data;
        std::vector<std::string> names;
        for (size_t i = 0; i < kTowns; ++i) names.push_back("t" + std::to_string(i));
        data.schema = dataset::FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                                      {"town", FeatureKind::kCategorical, names}})
                          .value();
        data.columns.resize(2);
        data.group_names = {"a", "b"};
        for (size_t i = 0; i < 20 * kTowns; ++i) {
            const size_t town = i % kTowns;
            data.columns[0].push_back(static_cast<float>(random.normal()));
            data.columns[1].push_back(static_cast<float>(town));
            data.label.push_back(random.bernoulli(model::sigmoid(effect[town])) ? 1 : 0);
            data.group.push_back(random.bernoulli(0.5) ? 1 : 0);
        }
        return data;
    }
    std::vector<double> effect;
};

OptionValues quick(const Learner& learner, int64_t trees = 30) {
    OptionValues values(learner.options());
    for (const auto& [name, value] :
         std::map<std::string, OptionValue>{{"trees", trees},
                                            {"leaves", int64_t{8}},
                                            {"fits", int64_t{4}},
                                            {"max_oracle_calls", int64_t{4}},
                                            {"tolerance", 0.1}}) {
        if (values.has(name)) {
            EXPECT_TRUE(values.set(name, value));
        }
    }
    return values;
}

Learned fitted(std::string_view name, const Task& task, int64_t trees = 30) {
    const auto* learner = find_learner(name).value();
    auto learned = fit(*learner, task, quick(*learner, trees));
    EXPECT_TRUE(learned) << learned.error().message;
    return learned ? *std::move(learned) : Learned{};
}

std::vector<double> scores_of(const model::Ensemble& ensemble, const Dataset& data) {
    std::vector<double> out;
    std::vector<float> row(data.columns.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        out.push_back(model::sigmoid(ensemble.predict_raw(row)));
    }
    return out;
}

struct Fit {
    double auc, loss;
};

Fit judged(const model::Ensemble& ensemble, const Dataset& data) {
    const auto scores = scores_of(ensemble, data);
    const stats::ScoredRows rows{.label = data.label, .score = scores, .weight = {}};
    return {stats::auc(rows).value(), stats::log_loss(rows)};
}

/// Returns the rows with these numbers in place of the towns.
Dataset with_numbers(const Dataset& data, std::vector<float> numbers) {
    auto out = data;
    out.schema = dataset::FeatureSchema::create(
                     {{"x", FeatureKind::kNumeric, {}}, {"town", FeatureKind::kNumeric, {}}})
                     .value();
    out.columns[1] = std::move(numbers);
    return out;
}

dataset::OrderedStatistics statistics_of(const Dataset& train, uint64_t seed) {
    const std::vector<size_t> town{1};
    return dataset::ordered_statistics(train, town, {.seed = seed}).front();
}

std::vector<float> served(const dataset::OrderedStatistics& statistics, const Dataset& data) {
    std::vector<float> out;
    for (const float code : data.columns[1]) out.push_back(statistics.of(code));
    return out;
}

TEST(CategoryStatistics, LearnNothingFromNoiseWhereMeansOfAllRowsDo) {
    constexpr int kSeeds = 16;
    double auc = 0, loss = 0, naive_loss = 0;          // on rows of their own
    double seen = 0, chance_seen = 0, naive_seen = 0;  // AUC on the numbers that were learnt from
    for (int seed = 0; seed < kSeeds; ++seed) {
        const World noise(0, seed);
        const auto train = noise.rows(2 * seed), test = noise.rows(2 * seed + 1);
        const auto learned = fitted("gbdt", {.train = train, .seed = 1});
        const auto on_test = judged(learned.link.ensemble, test);
        auc += on_test.auc / kSeeds;
        loss += on_test.loss / kSeeds;
        const auto statistics = statistics_of(train, 1);
        const auto by = [&](std::vector<float> numbers) {
            auto table = with_numbers(train, std::move(numbers));
            auto ensemble = fitted("gbdt", {.train = table, .seed = 1}).link.ensemble;
            return std::pair(judged(ensemble, table).auc, std::move(ensemble));
        };
        seen += by(statistics.training).first / kSeeds;
        chance_seen += by(noise.rows(1000 + seed).columns[0]).first / kSeeds;
        // the wrong variant: each row's number has its own label in it
        const auto [naive_auc, naive] = by(served(statistics, train));
        naive_seen += naive_auc / kSeeds;
        naive_loss += judged(naive, with_numbers(test, served(statistics, test))).loss / kSeeds;
    }
    const double nothing = std::log(2.0);
    EXPECT_NEAR(auc, 0.5, 4 * 0.0075 / std::sqrt(kSeeds));
    EXPECT_NEAR(seen, chance_seen, 0.01);
    EXPECT_GT(naive_seen, chance_seen + 0.03);
    EXPECT_LT(loss, nothing + 0.004);
    EXPECT_GT(naive_loss, nothing + 0.010);
}

TEST(CategoryStatistics, FindTheEffectsOfHundredsOfCategoriesAndNoMoreThanThereIs) {
    constexpr int kSeeds = 4;
    double ours = 0, truth = 0;
    for (int seed = 0; seed < kSeeds; ++seed) {
        const World world(1, seed);
        const auto train = world.rows(100 + 2 * seed), test = world.rows(101 + 2 * seed);
        ours += judged(fitted("gbdt", {.train = train}, 100).link.ensemble, test).auc / kSeeds;
        std::vector<double> known;
        for (const float code : test.columns[1])
            known.push_back(model::sigmoid(world.effect[static_cast<size_t>(code)]));
        truth += stats::auc({.label = test.label, .score = known, .weight = {}}).value() / kSeeds;
    }
    EXPECT_GT(ours, truth - 0.04);
    EXPECT_LT(ours, truth);
}

TEST(CategoryStatistics, AreServedAsTheyWereLearnt) {
    const World world(1, 7);
    auto train = world.rows(1), held = world.rows(2);
    // a rare category, some missing values, and in the held rows a category that no row has
    for (size_t i = 0; i < train.rows(); ++i) {
        if (train.columns[1][i] == 5 && i > 10 * kTowns) train.columns[1][i] = kMissing;
        if (train.columns[1][i] == 6) train.columns[1][i] = 7;
        if (i % 37 == 0) train.columns[1][i] = kMissing;
        if (i % 41 == 0) held.columns[1][i] = kMissing;
    }
    const auto learned = fitted("gbdt", {.train = train, .seed = 3});
    const auto statistics = statistics_of(train, 3);
    EXPECT_LT(statistics.rest, 0.6f);
    const auto numbers = with_numbers(train, statistics.training);
    const auto by_numbers = fitted("gbdt", {.train = numbers, .seed = 3});
    EXPECT_EQ(scores_of(learned.link.ensemble, held),
              scores_of(by_numbers.link.ensemble, with_numbers(held, served(statistics, held))));
    // rare, missing and unknown values are one
    for (const float code : {5.0f, 6.0f, kMissing}) {
        const float row[] = {0.5f, code}, other[] = {0.5f, kMissing};
        EXPECT_EQ(learned.link.ensemble.predict_raw(row), learned.link.ensemble.predict_raw(other));
    }
    // the split is by sets: the model's file is one of before
    const auto policy = model::Policy::create(train.schema, {learned.link}, {}, {}).value();
    const auto bytes = model::encode_model_file(policy);
    EXPECT_EQ(model::encode_model_file(model::decode_model_file(bytes).value()), bytes);
    EXPECT_THAT(learned.notes,
                ElementsAre(AllOf(HasSubstr("'town' has 299 categories in the training rows, more "
                                            "than the 255 of `max_bins`"),
                                  HasSubstr("1 of them have fewer than `min_category_rows`"))));
}

TEST(CategoryStatistics, ServeEveryLearnerOfTreesAlikeForAnyNumberOfThreads) {
    const World world(1, 8);
    // group b lives in better towns, so that constraints bind and mixtures have several members
    const auto unequal = [&](uint64_t seed) {
        auto data = world.rows(seed);
        for (size_t i = 0; i < data.rows(); ++i)
            data.group[i] = world.effect[static_cast<size_t>(data.columns[1][i])] > 0 ? 1 : 0;
        return data;
    };
    const auto train = unequal(1), held = unequal(2);
    const auto unjudged = HasSubstr("are judged on the training rows");
    size_t further = 0;  // ensembles beside the first one of a link
    for (const char* name : {"gbdt", "fairgbm", "eg", "gs", "rs", "fair-regression"}) {
        const Task task{.train = train, .validation = &held, .seed = 3};
        const auto learned = fitted(name, task, 10);
        EXPECT_THAT(learned.notes, testing::Contains(HasSubstr("ordered target statistics")))
            << name;
        EXPECT_THAT(learned.notes, testing::Not(testing::Contains(unjudged))) << name;
        const bool constrained = std::string_view(name) != "gbdt";
        EXPECT_EQ(testing::Matches(testing::Contains(unjudged))(
                      fitted(name, {.train = train, .seed = 3}, 10).notes),
                  constrained)
            << name;
        const auto policy =
            model::Policy::create(train.schema, {learned.link}, {}, {}, learned.state);
        ASSERT_TRUE(policy) << name << ": " << policy.error().message;
        further += learned.link.additional_ensembles.size();
        base::ThreadPool pool(3);
        auto pooled = task;
        pooled.pool = &pool;
        const auto again = fitted(name, pooled, 10);
        const auto other = model::Policy::create(train.schema, {again.link}, {}, {}, again.state);
        EXPECT_EQ(model::encode_model_file(*policy), model::encode_model_file(*other)) << name;
    }
    EXPECT_GT(further, 0u);
}

TEST(CategoryStatistics, OfNumbersAreTheirMeans) {
    const World world(1, 9);
    auto train = world.rows(1);
    for (size_t i = 0; i < train.rows(); ++i)
        train.target.push_back(world.effect[static_cast<size_t>(train.columns[1][i])] > 0 ? 8 : 2);
    train.label.clear();
    const auto learned =
        fitted("regression-trees", {.train = train, .label_lo = 0, .label_hi = 10}, 100);
    const auto raw = [&](float code) {
        const float row[] = {0, code};
        return learned.link.ensemble.predict_raw(row);
    };
    double high = 0, low = 0;
    for (size_t town = 0; town < kTowns; ++town)
        (world.effect[town] > 0 ? high : low) += raw(static_cast<float>(town)) / kTowns;
    EXPECT_GT(high, low + 0.2);
}

TEST(CategoryStatistics, GroupsDoNotChangeThem) {
    const World world(1, 10);
    auto train = world.rows(1);
    const auto learned = fitted("gbdt", {.train = train});
    for (auto& group : train.group) group = 1 - group;
    const auto other = fitted("gbdt", {.train = train});
    EXPECT_EQ(scores_of(learned.link.ensemble, train), scores_of(other.link.ensemble, train));
}

TEST(CategoryStatistics, AFeatureOfCategoriesStaysWithoutAnOrderForMonotoneRules) {
    const auto train = World(1, 11).rows(1);
    const auto* learner = find_learner("gbdt").value();
    auto values = quick(*learner);
    ASSERT_TRUE(values.set("monotone", "town=increasing"));
    const auto refused = fit(*learner, {.train = train}, values);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "bad_monotone");
    ASSERT_TRUE(values.set("monotone", "x=increasing"));
    EXPECT_TRUE(fit(*learner, {.train = train}, values));
}

TEST(CategoryStatistics, WhereTreesGoOnFromAModelTheRarestShareABinAndTheNoteSaysSo) {
    const auto train = World(1, 12).rows(1);
    const auto first = fitted("gbdt", {.train = train}, 10);
    const auto policy = model::Policy::create(train.schema, {first.link}, {}, {}).value();
    const auto more = fitted("gbdt", {.train = train, .start = &policy}, 20);
    EXPECT_EQ(more.link.trees(), 20u);
    EXPECT_THAT(more.notes, ElementsAre(HasSubstr("the rarest 46, in 920 of 6000 rows")));
}

TEST(CategoryStatistics, ValidationRowsWithImpossibleCodesAreRefused) {
    const World world(1, 13);
    const auto train = world.rows(1);
    auto held = world.rows(2);
    held.columns[1][3] = kTowns;
    const auto* learner = find_learner("gbdt").value();
    const auto learned = fit(*learner, {.train = train, .validation = &held}, quick(*learner));
    ASSERT_FALSE(learned);
    EXPECT_THAT(learned.error().message,
                AllOf(HasSubstr("validation set"), HasSubstr("category code from 0 to 299")));
}

TEST(CategoryStatistics, LinearModelsOfTooManyCategoriesAreRefused) {
    Dataset data;
    std::vector<std::string> names;
    for (size_t i = 0; i < 16'384; ++i) names.push_back("t" + std::to_string(i));
    data.schema = dataset::FeatureSchema::create({{"x", FeatureKind::kNumeric, {}},
                                                  {"town", FeatureKind::kCategorical, names}})
                      .value();
    data.columns = {{1, 2, 3, 4}, {0, 1, 2, 3}};
    data.label = {0, 1, 0, 1};
    data.group = {0, 0, 1, 1};
    data.group_names = {"a", "b"};
    const auto* learner = find_learner("fair-regression").value();
    OptionValues values(learner->options());
    ASSERT_TRUE(values.set("oracle", "linear"));
    const auto learned = fit(*learner, {.train = data}, values);
    ASSERT_FALSE(learned);
    EXPECT_THAT(learned.error().message, HasSubstr("are 16385 here; allowed are 16384"));
}

}  // namespace
}  // namespace rampart::learning
