// The learner against a reference that tries every split, on small tables whose gradients are whole
// numbers (so that there is no rounding).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/squared.hpp"

namespace rampart::gbdt {
namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

struct Table {
    dataset::Dataset data;
    std::vector<double> targets;  // whole numbers with mean 0
};

Table random_table(base::Random& random) {
    Table table;
    const size_t rows = 8 + random.below(50), features = 1 + random.below(4);
    std::vector<dataset::FeatureSpec> specs;
    for (size_t f = 0; f < features; ++f)
        specs.push_back({fmt::format("x{}", f), dataset::FeatureKind::kNumeric, {}});
    table.data.schema = dataset::FeatureSchema::create(specs).value();
    table.data.label.resize(rows);
    const uint64_t values = 2 + random.below(30);
    for (size_t f = 0; f < features; ++f) {
        auto& column = table.data.columns.emplace_back();
        for (size_t i = 0; i < rows; ++i)
            column.push_back(random.bernoulli(0.1) ? kMissing
                                                   : static_cast<float>(random.below(values)));
    }
    double sum = 0;
    for (size_t i = 0; i < rows; ++i) {
        table.targets.push_back(static_cast<double>(random.below(21)) - 10);
        sum += table.targets.back();
    }
    table.targets.back() -= sum;  // the mean is then 0 and gradients are the targets, negated
    return table;
}

struct Rule {
    size_t least_rows;
    double l2;
};

double gain_of(const Table& table, const std::vector<bool>& left, const Rule& rule) {
    double g[2] = {}, n[2] = {};
    for (size_t i = 0; i < left.size(); ++i) {
        g[left[i] ? 0 : 1] -= table.targets[i];
        ++n[left[i] ? 0 : 1];
    }
    if (std::min(n[0], n[1]) < static_cast<double>(rule.least_rows)) return 0;
    const double all = g[0] + g[1];
    return g[0] * g[0] / (n[0] + rule.l2) + g[1] * g[1] / (n[1] + rule.l2) -
           all * all / (n[0] + n[1] + rule.l2);
}

/// The greatest gain over every cut of every feature, missing on either side.
double best_gain(const Table& table, const Rule& rule) {
    double best = 0;
    for (const auto& column : table.data.columns) {
        for (const float cut : column) {
            if (std::isnan(cut)) continue;
            for (const bool missing_left : {false, true}) {
                std::vector<bool> left;
                for (const float x : column)
                    left.push_back(std::isnan(x) ? missing_left : x <= cut);
                best = std::max(best, gain_of(table, left, rule));
            }
        }
    }
    return best;
}

LearnerParams params_for(const Rule& rule, int leaves) {
    LearnerParams params;
    params.trees = 1;
    params.leaves = leaves;
    params.learning_rate = 1;
    params.min_rows_in_leaf = static_cast<int>(rule.least_rows);
    params.min_hessian_in_leaf = 0;
    params.l2 = rule.l2;
    return params;
}

TEST(ExactSplits, TheFirstSplitIsTheBestThereIs) {
    base::Random random(1);
    int split = 0;
    for (int repetition = 0; repetition < 1'000; ++repetition) {
        const auto table = random_table(random);
        const Rule rule{1 + random.below(5), random.bernoulli(0.5) ? 0.0 : 2.0};
        auto objective = SquaredError::create(table.targets, {}).value();
        const auto ensemble = train(table.data, objective, params_for(rule, 2), nullptr).value();
        const double best = best_gain(table, rule);
        const auto& root = ensemble.trees[0].nodes[0];
        // gains that are only rounding compared with the scores of the sides are not taken
        if (best < 1e-6) continue;
        ASSERT_GE(root.feature, 0) << repetition << ": a gain of " << best << " was missed";
        ASSERT_NEAR(root.gain, best, 1e-9 * best) << repetition;
        // and the reported gain is what its two sides gain
        std::vector<bool> left;
        for (const float x : table.data.columns[static_cast<size_t>(root.feature)])
            left.push_back(std::isnan(x) ? root.default_left : x <= root.threshold);
        ASSERT_NEAR(gain_of(table, left, rule), best, 1e-9 * best) << repetition;
        ++split;
    }
    EXPECT_GT(split, 900);
}

TEST(ExactSplits, EveryLeafHoldsTheBestConstantOfItsRows) {
    base::Random random(2);
    for (int repetition = 0; repetition < 300; ++repetition) {
        const auto table = random_table(random);
        const Rule rule{1 + random.below(3), random.bernoulli(0.5) ? 0.0 : 2.0};
        auto objective = SquaredError::create(table.targets, {}).value();
        const auto ensemble = train(table.data, objective, params_for(rule, 6), nullptr).value();
        std::map<double, std::vector<double>> by_value;
        std::vector<float> row(table.data.columns.size());
        for (size_t i = 0; i < table.targets.size(); ++i) {
            table.data.copy_row(i, row);
            by_value[ensemble.trees[0].predict(row)].push_back(table.targets[i]);
        }
        for (const auto& node : ensemble.trees[0].nodes) {
            if (node.feature >= 0) continue;
            // leaves of equal value cannot be distinguished by it
            const auto& targets = by_value.at(node.value);
            if (static_cast<double>(targets.size()) != node.cover) continue;
            double sum = 0;
            for (const double t : targets) sum += t;
            EXPECT_NEAR(node.value, sum / (node.cover + rule.l2), 1e-9);
            EXPECT_GE(targets.size(), rule.least_rows);
        }
    }
}

}  // namespace
}  // namespace rampart::gbdt
