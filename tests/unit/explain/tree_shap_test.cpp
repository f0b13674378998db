#include "rampart/explain/tree_shap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <numeric>

#include "brute_force.hpp"
#include "unit/model/model_pieces.hpp"

namespace rampart::explain {
namespace {

using model::Ensemble;
using model::Tree;
using testing::HasSubstr;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

std::vector<double> explain_row(const TreeShap& shap, std::span<const float> row) {
    std::vector<double> phi(row.size());
    auto workspace = shap.workspace();
    shap.explain(row, phi, workspace);
    return phi;
}

void expect_near(std::span<const double> found, std::span<const double> wanted, double within) {
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t f = 0; f < found.size(); ++f) EXPECT_NEAR(found[f], wanted[f], within) << f;
}

std::vector<float> random_rows(base::Random& random, size_t rows, size_t numeric) {
    std::vector<float> values;
    for (size_t i = 0; i < rows; ++i) {
        const auto row = model::random_row(random, numeric);
        values.insert(values.end(), row.begin(), row.end());
    }
    return values;
}

/// Numeric features 0 … numeric-1 and one category.
Ensemble random_trees(base::Random& random, size_t trees, size_t leaves, size_t numeric) {
    Ensemble ensemble;
    ensemble.base_score = random.normal();
    for (size_t t = 0; t < trees; ++t) {
        ensemble.trees.push_back(model::random_tree(random, 1 + random.below(leaves), numeric));
    }
    return ensemble;
}

double sum_of(const TreeShap& shap, std::span<const double> phi) {
    return std::accumulate(phi.begin(), phi.end(), shap.base_value());
}

/// x0 <= 0 ? 1 : (x1 <= 0 ? 2 : 6), covers 30 and 10 + 20.
Tree toy() {
    Tree tree;
    tree.nodes.resize(5);
    tree.nodes[0] = {.feature = 0, .left = 1, .right = 2, .cover = 60};
    tree.nodes[1] = {.value = 1, .cover = 30};
    tree.nodes[2] = {.feature = 1, .left = 3, .right = 4, .cover = 30};
    tree.nodes[3] = {.value = 2, .cover = 10};
    tree.nodes[4] = {.value = 6, .cover = 20};
    return tree;
}

// By hand for the row (1, 1): v() = 1/2·1 + 1/2·(1/3·2 + 2/3·6) = 17/6, v(x0) = 14/3,
// v(x1) = 1/2·1 + 1/2·6 = 7/2, v(x0, x1) = 6.
TEST(PathDependent, AToyTreeWorkedByHand) {
    const Ensemble ensemble{10, {toy()}};
    const auto shap = TreeShap::path_dependent(ensemble, 2).value();
    EXPECT_NEAR(shap.base_value(), 10 + 17.0 / 6, 1e-14);
    const float row[] = {1, 1};
    const auto phi = explain_row(shap, row);
    EXPECT_NEAR(phi[0], ((14.0 / 3 - 17.0 / 6) + (6 - 7.0 / 2)) / 2, 1e-14);
    EXPECT_NEAR(phi[1], ((7.0 / 2 - 17.0 / 6) + (6 - 14.0 / 3)) / 2, 1e-14);
}

// Against the one row (0, 0): v() = v(x1) = 1, v(x0) = 2, v(x0, x1) = 6.
TEST(Interventional, AToyTreeWorkedByHand) {
    const Ensemble ensemble{10, {toy()}};
    const float reference[] = {0, 0}, row[] = {1, 1};
    const auto shap = TreeShap::interventional(ensemble, 2, reference).value();
    EXPECT_NEAR(shap.base_value(), 11, 1e-14);
    const auto phi = explain_row(shap, row);
    EXPECT_NEAR(phi[0], 3, 1e-14);
    EXPECT_NEAR(phi[1], 2, 1e-14);
}

RC_GTEST_PROP(PathDependent, EqualsEverySubset, (uint64_t seed)) {
    base::Random random(seed);
    const size_t numeric = 1 + random.below(7);  // up to 8 features
    const auto ensemble = random_trees(random, 1 + random.below(4), 24, numeric);
    const auto shap = TreeShap::path_dependent(ensemble, numeric + 1).value();
    for (int i = 0; i < 3; ++i) {
        const auto row = model::random_row(random, numeric);
        const auto game = path_dependent_game(ensemble, row);
        expect_near(explain_row(shap, row), shapley_values(row.size(), game), 1e-12);
        EXPECT_NEAR(shap.base_value(), game(0), 1e-12);
    }
    RC_ASSERT(!testing::Test::HasFailure());
}

RC_GTEST_PROP(Interventional, EqualsEverySubset, (uint64_t seed)) {
    base::Random random(seed);
    const size_t numeric = 1 + random.below(7);
    const auto ensemble = random_trees(random, 1 + random.below(4), 24, numeric);
    const auto reference = random_rows(random, 1 + random.below(6), numeric);
    std::vector<double> weights;
    if (random.bernoulli(0.5)) {
        weights.resize(reference.size() / (numeric + 1));
        for (double& w : weights) w = random.uniform(0.1, 3);
    }
    const auto shap = TreeShap::interventional(ensemble, numeric + 1, reference, weights).value();
    for (int i = 0; i < 3; ++i) {
        const auto row = model::random_row(random, numeric);
        const auto game = interventional_game(ensemble, row, reference, weights);
        expect_near(explain_row(shap, row), shapley_values(row.size(), game), 1e-12);
        EXPECT_NEAR(shap.base_value(), game(0), 1e-12);
    }
    RC_ASSERT(!testing::Test::HasFailure());
}

TEST(PathDependent, ASplitThatNoTrainingRowPassedOneWayIsStillExact) {
    base::Random random(5);
    for (int i = 0; i < 50; ++i) {
        auto ensemble = random_trees(random, 1, 20, 3);
        for (auto& node : ensemble.trees[0].nodes) {
            // one branch of every second split loses its cover, with all below it
            if (node.feature < 0 || random.bernoulli(0.5)) continue;
            const bool left = random.bernoulli(0.5);
            ensemble.trees[0].nodes[static_cast<size_t>(left ? node.left : node.right)].cover = 0;
        }
        const auto shap = TreeShap::path_dependent(ensemble, 4);
        ASSERT_TRUE(shap) << shap.error().message;
        const auto row = model::random_row(random);
        expect_near(explain_row(*shap, row), shapley_values(4, path_dependent_game(ensemble, row)),
                    1e-12);
    }
}

TEST(PathDependent, ManyFeaturesOnAPathAreExactToo) {
    // a chain over 18 features, more than 8 points can do; x_f <= 0 leads on
    Tree tree;
    base::Random random(3);
    constexpr size_t kFeatures = 18;
    for (size_t f = 0; f < kFeatures; ++f) {
        const auto at = static_cast<int32_t>(tree.nodes.size());
        tree.nodes.push_back({.feature = static_cast<int32_t>(f), .left = at + 2, .right = at + 1});
        tree.nodes.push_back({.value = random.normal(), .cover = random.uniform(1, 5)});
    }
    tree.nodes.push_back({.value = random.normal(), .cover = 3});
    for (size_t i = tree.nodes.size() - 1; i-- > 0;) {
        if (tree.nodes[i].feature < 0) continue;
        tree.nodes[i].cover = tree.nodes[i + 1].cover + tree.nodes[i + 2].cover;
    }
    const Ensemble ensemble{0, {tree}};
    const auto shap = TreeShap::path_dependent(ensemble, kFeatures).value();
    std::vector<float> row(kFeatures, -1);
    row[15] = 1;
    // 2^18 subsets: the game of a chain is cheap
    expect_near(explain_row(shap, row),
                shapley_values(kFeatures, path_dependent_game(ensemble, row)), 1e-11);
}

TEST(TreeShap, ContributionsAndBaseValueSumToTheScoreOf200Trees) {
    base::Random random(11);
    const auto ensemble = random_trees(random, 200, 31, 9);
    const auto by_paths = TreeShap::path_dependent(ensemble, 10).value();
    const auto reference = random_rows(random, 5, 9);
    const auto by_rows = TreeShap::interventional(ensemble, 10, reference).value();
    for (int i = 0; i < 50; ++i) {
        const auto row = model::random_row(random, 9);
        const double score = ensemble.predict_raw(row);
        for (const auto* shap : {&by_paths, &by_rows}) {
            EXPECT_NEAR(sum_of(*shap, explain_row(*shap, row)), score, 1e-9);
        }
    }
}

TEST(TreeShap, DeepTreesStayExact) {
    base::Random random(12);
    const size_t numeric = 99;  // paths of many different features
    Ensemble ensemble;
    for (int t = 0; t < 3; ++t) {
        ensemble.trees.push_back(model::random_tree(random, 1500, numeric));
    }
    const auto shap = TreeShap::path_dependent(ensemble, numeric + 1).value();
    for (int i = 0; i < 5; ++i) {
        const auto row = model::random_row(random, numeric);
        EXPECT_NEAR(sum_of(shap, explain_row(shap, row)), ensemble.predict_raw(row), 1e-9);
    }
}

TEST(TreeShap, AFeatureThatNoTreeReadsGetsNothing) {
    base::Random random(7);
    const auto ensemble = random_trees(random, 20, 16, 3);  // features 0 … 3
    const auto reference = random_rows(random, 4, 5);
    for (const auto& shap : {TreeShap::path_dependent(ensemble, 6).value(),
                             TreeShap::interventional(ensemble, 6, reference).value()}) {
        const auto phi = explain_row(shap, model::random_row(random, 5));
        EXPECT_EQ(phi[4], 0);
        EXPECT_EQ(phi[5], 0);
    }
}

TEST(TreeShap, FeaturesThatPlayTheSamePartGetTheSame) {
    // x0 and x1 in both orders, both high in the row and low in the reference
    Tree mirrored = toy();
    mirrored.nodes[0].feature = 1;
    mirrored.nodes[2].feature = 0;
    const Ensemble ensemble{0, {toy(), mirrored}};
    const float row[] = {1, 1}, reference[] = {-1, -1};
    for (const auto& shap : {TreeShap::path_dependent(ensemble, 2).value(),
                             TreeShap::interventional(ensemble, 2, reference).value()}) {
        const auto phi = explain_row(shap, row);
        EXPECT_NEAR(phi[0], phi[1], 1e-14);
        EXPECT_GT(phi[0], 1);
    }
}

TEST(Interventional, ARowThatIsItsOwnReferenceHasNothingToExplain) {
    base::Random random(8);
    const auto ensemble = random_trees(random, 10, 16, 3);
    const auto row = model::random_row(random);
    const auto shap = TreeShap::interventional(ensemble, 4, row).value();
    for (const double phi : explain_row(shap, row)) EXPECT_EQ(phi, 0);
    EXPECT_EQ(shap.base_value(), ensemble.predict_raw(row));
}

TEST(TreeShap, BatchesGiveTheBitsOfSingleRowsWithAnyNumberOfThreads) {
    base::Random random(13);
    const auto ensemble = random_trees(random, 20, 31, 4);
    const auto rows = random_rows(random, 300, 4);
    const auto reference = random_rows(random, 3, 4);
    base::ThreadPool pool(3);
    for (const auto& shap : {TreeShap::path_dependent(ensemble, 5).value(),
                             TreeShap::interventional(ensemble, 5, reference).value()}) {
        std::vector<double> single, alone(rows.size()), pooled(rows.size());
        for (size_t i = 0; i < 300; ++i) {
            const auto phi = explain_row(shap, std::span(rows).subspan(i * 5, 5));
            single.insert(single.end(), phi.begin(), phi.end());
        }
        shap.explain_rows(rows, alone, nullptr);
        shap.explain_rows(rows, pooled, &pool);
        EXPECT_EQ(alone, single);
        EXPECT_EQ(pooled, single);
    }
}

TEST(PathDependent, EveryInstructionSetGivesTheSameBits) {
    base::Random random(15);
    for (const size_t numeric : {3u, 11u, 40u}) {  // 1, 2 and more vectors of points
        Ensemble ensemble;
        for (int t = 0; t < 5; ++t) {
            ensemble.trees.push_back(model::random_tree(random, 200, numeric));
        }
        const auto best = TreeShap::path_dependent(ensemble, numeric + 1).value();
        const auto portable =
            TreeShap::path_dependent(ensemble, numeric + 1, model::InstructionSet::kPortable)
                .value();
        for (int i = 0; i < 10; ++i) {
            const auto row = model::random_row(random, numeric);
            EXPECT_EQ(explain_row(best, row), explain_row(portable, row));
        }
    }
}

TEST(TreeShap, RowsOfADataSetAreThoseNamed) {
    base::Random random(14);
    const auto ensemble = random_trees(random, 5, 8, 1);
    const auto shap = TreeShap::path_dependent(ensemble, 2).value();
    dataset::Dataset data;
    data.schema = model::example_schema(1);
    data.columns = {{0.5f, -2, kMissing}, {3, kMissing, 60}};
    data.label = {0, 1, 1};
    std::vector<double> phi(4);
    const uint32_t rows[] = {2, 0};
    shap.explain_rows(data, rows, phi, nullptr);
    const float last[] = {kMissing, 60}, first[] = {0.5f, 3};
    expect_near(std::span(phi).first(2), explain_row(shap, last), 0);
    expect_near(std::span(phi).last(2), explain_row(shap, first), 0);
}

TEST(TreeShap, WithoutTreesTheBaseScoreIsAll) {
    Tree leaf;
    leaf.nodes.resize(1);
    leaf.nodes[0].value = 0.5;
    const Ensemble ensemble{2, {leaf}};
    const float row[] = {1};
    for (const auto& shap : {TreeShap::path_dependent(ensemble, 1).value(),
                             TreeShap::interventional(ensemble, 1, row).value()}) {
        EXPECT_EQ(shap.base_value(), 2.5);
        EXPECT_EQ(explain_row(shap, row), std::vector<double>{0});
    }
}

TEST(PathDependent, AModelWithoutCoverIsRefusedAndSaysWhatToDo) {
    Ensemble ensemble{0, {toy(), toy()}};
    for (auto& node : ensemble.trees[1].nodes) node.cover = 0;
    const auto shap = TreeShap::path_dependent(ensemble, 2);
    ASSERT_FALSE(shap);
    EXPECT_EQ(shap.error().reason, "no_cover");
    EXPECT_EQ(shap.error().code, base::ErrorCode::kFailedPrecondition);
    EXPECT_THAT(shap.error().message, HasSubstr("tree 1: node 0"));
    EXPECT_THAT(shap.error().message, HasSubstr("reference set"));
    const float row[] = {1, 1};
    EXPECT_TRUE(TreeShap::interventional(ensemble, 2, row));
}

TEST(TreeShap, ABrokenEnsembleIsRefused) {
    const float reference[] = {0};
    const Ensemble ensemble{0, {toy()}};  // splits feature 1 of 1
    EXPECT_EQ(TreeShap::path_dependent(ensemble, 1).error().reason, "bad_node");
    EXPECT_EQ(TreeShap::interventional(ensemble, 1, reference).error().reason, "bad_node");
}

TEST(Interventional, BadReferencesAreRefusedAndNamed) {
    const Ensemble ensemble{0, {toy()}};
    const float inf = std::numeric_limits<float>::infinity();
    const auto reason = [&](std::vector<float> reference, std::vector<double> weights = {}) {
        const auto shap = TreeShap::interventional(ensemble, 2, reference, weights);
        return shap ? std::string() : shap.error().reason;
    };
    EXPECT_EQ(reason({}), "bad_reference");
    EXPECT_EQ(reason({1, 2, 3}), "bad_reference");
    EXPECT_EQ(reason({1, inf}), "bad_reference");
    EXPECT_EQ(reason({1, 2}, {1, 1}), "bad_reference");
    EXPECT_EQ(reason({1, 2}, {0}), "bad_reference");
    EXPECT_EQ(reason({1, 2}, {std::nan("")}), "bad_reference");
    EXPECT_EQ(reason({1, kMissing}, {2}), "");
    EXPECT_EQ(reason(std::vector<float>(2 * kMaxReferenceRows)), "");
    EXPECT_EQ(reason(std::vector<float>(2 * kMaxReferenceRows + 2)), "too_many_reference_rows");
}

/// A chain of `leaves` leaves that goes round `features` features.
Tree chain(size_t leaves, size_t features) {
    Tree tree;
    for (size_t i = 0; i + 1 < leaves; ++i) {
        const auto at = static_cast<int32_t>(tree.nodes.size());
        tree.nodes.push_back({.feature = static_cast<int32_t>(i % features),
                              .left = at + 2,
                              .right = at + 1,
                              .cover = static_cast<double>(leaves - i)});
        tree.nodes.push_back({.value = static_cast<double>(i % 7), .cover = 1});
    }
    tree.nodes.push_back({.value = 1, .cover = 1});
    return tree;
}

TEST(PathDependent, TreesWhoseTablesWouldFillTheMemoryAreRefused) {
    const Tree tree = chain(4096, 1024);  // 3071 splits repeat a feature, 512 points each
    Ensemble ensemble{0, std::vector<Tree>(100, tree)};
    EXPECT_EQ(TreeShap::path_dependent(ensemble, 1024).error().reason, "too_deep_to_explain");
    ensemble.trees.resize(2);
    const auto shap = TreeShap::path_dependent(ensemble, 1024).value();
    std::vector<float> row(1024, -1);
    row[700] = 1;
    EXPECT_NEAR(sum_of(shap, explain_row(shap, row)), ensemble.predict_raw(row), 1e-9);
}

}  // namespace
}  // namespace rampart::explain
