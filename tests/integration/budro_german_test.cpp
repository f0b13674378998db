#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <set>

#include "rampart/budro/consistency.hpp"
#include "rampart/budro/metric.hpp"
#include "rampart/budro/train.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/model/policy.hpp"
#include "support/places.hpp"

/// The run on German credit that the authors of BuDRO printed round by round (split seed 56499,
/// depth 10, learning rate 0.005, lambda 1, epsilon 1, 500 rounds, exact dual): metric, attack and
/// boosting are compared with published figures.
namespace rampart::budro {
namespace {

using dataset::Dataset;
using dataset::FeatureKind;
namespace fs = std::filesystem;

constexpr const char* kNumbers[] = {"month",
                                    "credit_amount",
                                    "investment_as_income_percentage",
                                    "residence_since",
                                    "age",
                                    "number_of_credits",
                                    "people_liable_for"};
constexpr const char* kCategories[] = {
    "status",          "credit_history", "purpose",       "savings",           "employment",
    "personal_status", "other_debtors",  "property",      "installment_plans", "housing",
    "skill_level",     "telephone",      "foreign_worker"};

fs::path data_file() {
    const char* folder = std::getenv("RAMPART_DATA");
    return fs::path(folder != nullptr ? folder : test_support::source_dir() + "/../shared/data") /
           "german_credit.csv";
}

std::vector<uint32_t> test_rows() {
    std::ifstream in(test_support::source_dir() + "/tests/golden/german_test_rows_56499.txt");
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; in >> row;) rows.push_back(row);
    return rows;
}

/// label 1: a bad risk; group: 0 younger than 25, 1 not.
Dataset german(const fs::path& file) {
    std::map<std::string, std::set<std::string>> categories;
    auto csv = dataset::CsvReader::open(file).value();
    const auto names = csv.columns();
    while (csv.next().value())
        for (size_t c = 0; c < names.size(); ++c)
            categories[names[c]].insert(std::string(csv.cells()[c]));
    std::vector<dataset::FeatureSpec> specs;
    for (const char* name : kNumbers) specs.push_back({name, FeatureKind::kNumeric, {}});
    for (const char* name : kCategories)
        specs.push_back(
            {name, FeatureKind::kCategorical, {categories[name].begin(), categories[name].end()}});
    dataset::TableSchema schema;
    schema.features = dataset::FeatureSchema::create(specs).value();
    schema.label_column = "credit";
    schema.favourable = "2";
    auto data = dataset::read_table(file, schema).value();
    data.group_names = {"young", "old"};
    for (const float age : data.columns[4]) data.group.push_back(age >= 25);
    return data;
}

/// The features of the authors' trees: standardised numbers, and each category as 0 or 1.
std::vector<float> columns_of(const FairMetric& metric, std::span<const float> row) {
    std::vector<float> seen;
    for (const auto& column : metric.columns()) {
        const float value = row[column.feature];
        seen.push_back(
            column.kind == FairMetric::Kind::kNumber
                ? static_cast<float>((static_cast<double>(value) - column.mean) * column.scale)
                : value == static_cast<float>(column.code));
    }
    return seen;
}

Dataset as_columns(const Dataset& data, const FairMetric& metric) {
    Dataset out = data;
    out.columns.assign(metric.columns().size(), {});
    std::vector<dataset::FeatureSpec> specs;
    for (size_t c = 0; c < metric.columns().size(); ++c)
        specs.push_back({metric.column_name(c), FeatureKind::kNumeric, {}});
    std::vector<float> row(data.schema.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        data.copy_row(i, row);
        const auto seen = columns_of(metric, row);
        for (size_t c = 0; c < seen.size(); ++c) out.columns[c].push_back(seen[c]);
    }
    out.schema = dataset::FeatureSchema::create(specs).value();
    return out;
}

class German : public testing::Test {
  protected:
    void SetUp() override {
        const auto file = data_file();
        if (!fs::exists(file))
            GTEST_SKIP() << file << " is not there: set RAMPART_DATA to a folder with "
                         << "german_credit.csv (UCI Statlog, 1000 rows)";
        const auto all = german(file);
        ASSERT_EQ(all.rows(), 1000u);
        const auto held_out = test_rows();
        ASSERT_EQ(held_out.size(), 200u);
        std::vector<uint32_t> rest;
        for (uint32_t i = 0; i < 1000; ++i)
            if (!std::binary_search(held_out.begin(), held_out.end(), i)) rest.push_back(i);
        train = all.subset(rest);
        test = all.subset(held_out);
        FairMetricSpec spec;
        spec.protected_features = {"age"};
        // the authors have two columns of 0 and 1 for each flag
        spec.weights = {{"telephone", std::numbers::sqrt2},
                        {"foreign_worker", std::numbers::sqrt2}};
        for (const double alpha : {0.1, 1.0, 10.0}) spec.l2_of_numbers.push_back(alpha / 800);
        auto learnt = FairMetric::learn(train, spec);
        ASSERT_TRUE(learnt) << learnt.error().message;
        metric.emplace(*std::move(learnt));
    }

    static BudroParams params() {
        BudroParams p;
        p.learner.trees = 500;
        p.learner.learning_rate = 0.005;
        p.learner.max_depth = 10;
        p.learner.leaves = 1024;
        p.learner.min_rows_in_leaf = 1;
        p.learner.min_hessian_in_leaf = 0.1 / 800;
        p.learner.l2 = 1;
        p.learner.min_gain = 1e-6;  // smallest gain for which XGBoost splits
        p.transport.epsilon = 1;
        p.positive_class_weight = 560.0 / 240.0;
        p.paper_scale = true;
        p.initial_score = 0;
        return p;
    }

    Dataset train, test;
    std::optional<FairMetric> metric;
};

TEST_F(German, TheMetricIsThatOfRidgeRegressionWithCrossValidation) {
    EXPECT_EQ(metric->columns().size(), 61u);
    EXPECT_EQ(metric->subspace_dimensions(), 2u);
    const auto points = metric->embed(train).value();
    double sum = 0;
    for (size_t i = 0; i < 800; ++i)
        for (size_t j = 0; j < 800; ++j) sum += squared_distance(points.row(i), points.row(j));
    EXPECT_NEAR(sum / (800 * 800), 25.03585987697659, 1e-5);  // NumPy with scikit-learn's RidgeCV
}

/// Until round 150 to 1e-4. Later, two programs differ because of near ties of splits. XGBoost 2 in
/// exact mode, run again with the authors' procedure, is up to 9e-5 away from what XGBoost 0.90
/// printed for them, and 1.2e-4 with gradients of 14 bits, on which our splits are chosen. Ours,
/// with 255 bins as well, is 3e-4 away.
TEST_F(German, TheRobustLossFollowsThePublishedRounds) {
    const auto columns = as_columns(train, *metric);
    const auto points = metric->embed(train).value();
    base::ThreadPool pool(2);
    const auto result = train_budro(columns, points, params(), &pool);
    ASSERT_TRUE(result) << result.error().message;
    const std::pair<size_t, double> published[] = {
        {0, 0.691451},   {1, 0.691387},   {10, 0.691049},  {20, 0.690735},
        {150, 0.687174}, {300, 0.683398}, {450, 0.679909}, {499, 0.678809}};
    for (const auto& [round, loss] : published) {
        EXPECT_NEAR(result->rounds[round].robust_loss, loss, round <= 150 ? 1e-4 : 3.5e-4) << round;
        EXPECT_NEAR(result->rounds[round].gap, 0, 1e-9);
        EXPECT_NEAR(result->rounds[round].cost, 1, 1e-9);  // printed: .9999999996
    }
    std::vector<double> approve;
    std::vector<float> row(test.schema.size());
    for (size_t i = 0; i < 200; ++i) {
        test.copy_row(i, row);
        approve.push_back(result->ensemble.predict_raw(columns_of(*metric, row)) > 0);
    }
    const auto report =
        fairness::group_report({test.label, approve, test.group, {}}, test.group_names).value();
    // published: .7298, .1288, .0912 and .96; of 200 rows, 38 + 18 of them young, one row changes
    // .01
    EXPECT_NEAR(*balanced_accuracy(report.overall), 0.7298, 0.015);
    EXPECT_NEAR(rate_gaps(report)->max(), 0.1288, 0.06);
    EXPECT_NEAR(rate_gaps(report)->rms(), 0.0912, 0.06);
    const auto status = parse_counterfactual("personal_status", test.schema).value();
    const auto kept = consistency(test, status, [&](std::span<const float> copy, size_t) {
        return result->ensemble.predict_raw(columns_of(*metric, copy)) > 0 ? 1.0 : 0.0;
    });
    EXPECT_NEAR(kept->share, 0.96, 0.02);
}

}  // namespace
}  // namespace rampart::budro
