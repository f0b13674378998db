#include "rampart/tuning/valuation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "rampart/base/random.hpp"

namespace rampart::tuning {
namespace {

using testing::HasSubstr;

constexpr size_t kPersons = 400;

/// Three rows a person; x says who repays, group b has a lower x; the second feature is the row's
/// number.
dataset::Dataset table() {
    dataset::Dataset data;
    data.schema = dataset::FeatureSchema::create({{"x", dataset::FeatureKind::kNumeric, {}},
                                                  {"row", dataset::FeatureKind::kNumeric, {}}})
                      .value();
    data.columns.resize(2);
    data.group_names = {"a", "b"};
    base::Random random(2);
    for (size_t i = 0; i < 3 * kPersons; ++i) {
        const auto group = static_cast<int32_t>(i / 3 % 2);
        const double x = random.normal() - 0.8 * group;
        data.columns[0].push_back(static_cast<float>(x));
        data.columns[1].push_back(static_cast<float>(i));
        data.label.push_back(random.bernoulli(1 / (1 + std::exp(-2 * x))));
        data.group.push_back(group);
    }
    return data;
}

std::vector<std::string> persons() {
    std::vector<std::string> out;
    for (size_t i = 0; i < 3 * kPersons; ++i) out.push_back(std::to_string(i / 3));
    return out;
}

/// Notes the rows that it is given.
class Spy : public learning::Learner {
  public:
    std::string_view name() const override { return "spy"; }
    std::string_view summary() const override { return "learns nothing"; }
    std::string_view source() const override { return ""; }
    std::vector<learning::Option> options() const override {
        return {{"base", 0.0, "raw score", -9, 9}, {"favourable_weight", 1.0, "weight", 0, 9}};
    }
    learning::Capabilities capabilities(const learning::OptionValues&) const override { return {}; }
    base::Status check(const learning::OptionValues&) const override { return base::ok(); }
    mutable std::vector<std::vector<size_t>> seen;  // rows by training; validation rows behind
    mutable std::vector<size_t> train_rows;

  protected:
    base::Result<learning::Learned> learn(const learning::Task& task,
                                          const learning::OptionValues& values) const override {
        auto& rows = seen.emplace_back();
        for (const auto* part : {&task.train, task.validation})
            for (const float row : part->columns[1]) rows.push_back(static_cast<size_t>(row));
        train_rows.push_back(task.train.rows());
        learning::Learned out;
        out.link.ensemble.base_score = values.number("base");
        return out;
    }
};

Plan over(std::string_view option, double from, double to) {
    return {.folds = 3, .ranges = {{.option = std::string(option), .from = from, .to = to}}};
}

class Valuing : public testing::Test {
  protected:
    ValuationInputs inputs(std::string_view learner, std::string_view criterion = "none") const {
        const auto* found = learning::find_learner(learner).value();
        const auto* rule = postprocessing::find_postprocessor(criterion).value();
        ValuationInputs out{.rows = data,
                            .persons = persons(),
                            .learner = found,
                            .options = learning::OptionValues(found->options()),
                            .postprocessor = rule,
                            .postprocess = learning::OptionValues(rule->options()),
                            .validation = 0.25};
        EXPECT_TRUE(out.options.set("trees", int64_t{30}));
        return out;
    }
    ValuationInputs by_spy() const {
        auto out = inputs("gbdt");
        out.learner = &spy;
        out.options = learning::OptionValues(spy.options());
        return out;
    }
    dataset::Dataset data = table();
    Spy spy;
};

TEST_F(Valuing, NoPersonIsOnBothSidesOfAnyCut) {
    const auto plan = over("base", -1, 1);
    const Valuation valuation(by_spy(), plan);
    std::map<size_t, size_t> without;  // person: trainings that did not see them
    for (size_t fold = 0; fold < 3; ++fold) {
        ASSERT_TRUE(valuation.value({0.0}, 1, fold));
        std::map<size_t, size_t> rows;
        std::set<size_t> learnt;
        for (size_t i = 0; i < spy.seen[fold].size(); ++i) {
            const size_t person = spy.seen[fold][i] / 3;
            ++rows[person];
            if (i < spy.train_rows[fold])
                learnt.insert(person);
            else
                EXPECT_FALSE(learnt.contains(person)) << "held out of the learning";
        }
        for (const auto& [person, count] : rows) EXPECT_EQ(count, 3u) << "all rows, or none";
        for (size_t person = 0; person < kPersons; ++person)
            without[person] += !rows.contains(person);
        EXPECT_NEAR(static_cast<double>(spy.train_rows[fold]),
                    0.75 * static_cast<double>(spy.seen[fold].size()), 80);
    }
    for (const auto& [person, count] : without) EXPECT_EQ(count, 1u) << "valued once";
}

TEST_F(Valuing, TheScoreIsTheLogLossWeightedAsTheLearnersLoss) {
    const auto plan = over("base", -1, 1);
    for (size_t i = 0; i < data.rows(); ++i) data.weight.push_back(i % 2 == 0 ? 1.0f : 3.0f);
    auto in = by_spy();
    ASSERT_TRUE(in.options.set("favourable_weight", 2.0));
    const Valuation valuation(in, plan);
    EXPECT_EQ(valuation.score(), "log loss");
    double loss = 0, weight = 0, expected = 0, of = 0;
    for (size_t fold = 0; fold < 3; ++fold) {
        const auto one = valuation.value({0.5}, 1, fold).value();
        loss += one.loss, weight += one.weight;
    }
    for (size_t i = 0; i < data.rows(); ++i) {
        const double w = (i % 2 == 0 ? 1 : 3) * (data.label[i] == 1 ? 2 : 1);
        expected += w * std::log1p(std::exp(data.label[i] == 1 ? -0.5 : 0.5));
        of += w;
    }
    EXPECT_NEAR(loss, expected, 1e-9 * expected);
    EXPECT_NEAR(weight, of, 1e-9 * of);
}

TEST_F(Valuing, TheResourceIsTreesElsePersons) {
    const auto rate = over("learning_rate", 0.01, 0.3);
    const Valuation trees(inputs("gbdt"), rate);
    EXPECT_EQ(trees.resource(), "trees");
    const double ten = trees.value({0.1}, 1.0 / 3, 0).value().loss;
    auto fewer = inputs("gbdt");
    ASSERT_TRUE(fewer.options.set("trees", int64_t{10}));
    EXPECT_EQ(ten, Valuation(fewer, rate).value({0.1}, 1, 0).value().loss);
    const auto base = over("base", -1, 1);
    const Valuation by_persons(by_spy(), base);
    EXPECT_EQ(by_persons.resource(), "persons");
    ASSERT_TRUE(by_persons.value({0.0}, 1.0 / 3, 0));
    ASSERT_TRUE(by_persons.value({0.0}, 1, 0));
    const std::set<size_t> few(spy.seen[0].begin(), spy.seen[0].end());
    const std::set<size_t> all(spy.seen[1].begin(), spy.seen[1].end());
    EXPECT_NEAR(static_cast<double>(few.size()), static_cast<double>(all.size()) / 3, 100);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), few.begin(), few.end()));
}

TEST_F(Valuing, DecisionsOfAMixtureCostWhatTheyCostAtTheOperatingPoint) {
    const auto plan = over("learning_rate", 0.01, 0.3);
    auto in = inputs("eg");
    for (const auto& [name, value] : std::map<std::string, learning::OptionValue>{
             {"trees", int64_t{5}}, {"fits", int64_t{3}}, {"tolerance", 0.5}, {"threshold", 0.7}})
        ASSERT_TRUE(in.options.set(name, value));
    const Valuation valuation(in, plan);
    EXPECT_EQ(valuation.score(), "cost of decisions");
    double loss = 0, weight = 0, favourable = 0;
    for (size_t fold = 0; fold < 3; ++fold) {
        const auto one = valuation.value({0.1}, 1, fold).value();
        loss += one.loss, weight += one.weight;
        EXPECT_EQ(one.excess, 0) << "a tolerance that anything keeps";
    }
    for (const auto label : data.label) favourable += label;
    EXPECT_EQ(weight, static_cast<double>(data.rows()));
    EXPECT_LT(loss, 0.3 * favourable) << "better than to decline everybody";
    EXPECT_LT(loss, 0.7 * (weight - favourable)) << "better than to approve everybody";
}

TEST_F(Valuing, WhatTheLearnerMissesOfItsConstraintsIsAnExcess) {
    const auto plan = over("learning_rate", 0.01, 0.3);
    auto in = inputs("fairgbm");
    ASSERT_TRUE(in.options.set("tolerance", 0.0));
    EXPECT_GT(Valuation(in, plan).value({0.1}, 1, 0).value().excess, 0);
    ASSERT_TRUE(in.options.set("tolerance", 0.9));
    EXPECT_EQ(Valuation(in, plan).value({0.1}, 1, 0).value().excess, 0);
}

TEST_F(Valuing, ADrawnScoreIsValuedByItsSquaredError) {
    const auto plan = over("learning_rate", 0.01, 0.3);
    auto in = inputs("fair-regression");
    for (const auto& [name, value] : std::map<std::string, learning::OptionValue>{
             {"trees", int64_t{8}}, {"grid", int64_t{10}}, {"max_oracle_calls", int64_t{6}}})
        ASSERT_TRUE(in.options.set(name, value));
    const Valuation valuation(in, plan);
    EXPECT_EQ(valuation.score(), "squared error");
    const auto one = valuation.value({0.2}, 1, 0).value();
    EXPECT_GT(one.loss / one.weight, 0.1);
    EXPECT_LT(one.loss / one.weight, 0.25) << "better than one half for everybody";
}

/// The rule's criterion is measured on decisions about persons that fitted neither trees nor rule.
TEST_F(Valuing, OfARuleTheDecisionsOfAllFoldsKeepTheCriterionOrMissItByAnAmount) {
    const auto plan = over("postprocess.gamma", 0.01, 2);
    const auto excess = [&](double tolerance) {
        auto in = inputs("gbdt", "statistical_parity");
        EXPECT_TRUE(in.postprocess.set("tolerance", tolerance));
        const Valuation valuation(in, plan);
        EXPECT_EQ(valuation.score(), "cost of decisions");
        std::vector<FoldValue> folds;
        size_t rows = 0;
        for (size_t fold = 0; fold < 3; ++fold) {
            folds.push_back(valuation.value({0.3}, 1, fold).value());
            rows += folds.back().approve.size();
        }
        EXPECT_EQ(rows, data.rows());
        return valuation.excess({0.3}, folds).value();
    };
    EXPECT_LE(excess(0.2), 0);
    EXPECT_GT(excess(0.0), 0) << "no rule keeps a tolerance of 0 on other persons";
    EXPECT_LT(excess(0.0), 0.15);
}

TEST_F(Valuing, ASearchFindsMoreLeavesWhereOneSplitIsNotEnoughWhateverTheThreads) {
    for (size_t i = 0; i < data.rows(); ++i)  // a parity of two features: no stump learns it
        data.columns[1][i] = static_cast<float>(i * 7 % 11) - 5,
        data.label[i] = (data.columns[0][i] > -0.4) == (data.columns[1][i] > 0);
    Plan plan{.trials = 6,
              .ranges = {{.option = "leaves", .from = 2, .to = 16, .whole = true},
                         {.option = "min_rows_in_leaf", .choices = {int64_t{5}, int64_t{150}}}}};
    auto in = inputs("gbdt");
    ASSERT_TRUE(in.options.set("leaves", int64_t{2}));
    ASSERT_TRUE(in.options.set("min_rows_in_leaf", int64_t{150}));
    const Valuation valuation(in, plan);
    std::map<std::string, std::string> store;
    Host host{.kept = [&](const base::Digest& of) -> base::Result<std::string> {
                  return store[of.hex()];
              },
              .keep =
                  [&](const base::Digest& of, const std::string& text) {
                      store[of.hex()] = text;
                      return base::ok();
                  }};
    const auto found = search(valuation, host, nullptr).value();
    EXPECT_LT(found.best.score, found.trials.front().score - 0.1) << "the recipe's own";
    EXPECT_EQ(std::get<int64_t>(found.setting[1]), 5);
    EXPECT_THAT(describe(valuation, found), HasSubstr("random, 6 trials, 3 folds by person"));
    base::ThreadPool pool(2);
    EXPECT_EQ(encode(valuation.digest(), search(valuation, {}, &pool)->trials),
              store[valuation.digest().hex()]);
    in.stopped = [] { return true; };
    EXPECT_EQ(search(Valuation(in, plan), {}, &pool).error().reason, "training_stopped");
    EXPECT_TRUE(search(Valuation(in, plan), host, &pool)) << "all is kept, nothing is left to do";
}

TEST_F(Valuing, ItsDigestTellsSearchesApart) {
    const auto plan = over("learning_rate", 0.01, 0.3);
    const auto digest = Valuation(inputs("gbdt"), plan).digest();
    EXPECT_EQ(Valuation(inputs("gbdt"), plan).digest(), digest);
    auto seeded = inputs("gbdt"), of_others = inputs("gbdt"), smaller = inputs("gbdt");
    seeded.seed = 1;
    of_others.persons.back() = "another person";
    ASSERT_TRUE(smaller.options.set("leaves", int64_t{3}));
    for (const auto* other : {&seeded, &of_others, &smaller})
        EXPECT_NE(Valuation(*other, plan).digest(), digest);
    const auto wider = over("learning_rate", 0.01, 0.4);
    EXPECT_NE(Valuation(inputs("gbdt"), wider).digest(), digest);
    data.label[0] = data.label[0] == 0;
    EXPECT_NE(Valuation(inputs("gbdt"), plan).digest(), digest);
}

TEST_F(Valuing, AFoldWithoutRowsIsSaid) {
    const auto plan = over("learning_rate", 0.01, 0.3);
    auto in = inputs("gbdt");
    for (auto& person : in.persons) person = "one";
    const auto error = search(Valuation(in, plan), {}, nullptr).error();
    EXPECT_EQ(error.reason, "no_trial");
    EXPECT_THAT(error.message, HasSubstr("give fewer folds or more persons"));
}

}  // namespace
}  // namespace rampart::tuning
