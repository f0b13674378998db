#include "rampart/fair_regression/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "rampart/base/random.hpp"

namespace rampart::fair_regression {
namespace {

struct Made {
    std::vector<double> label;
    std::vector<int32_t> group;
    std::vector<float> weight;
    std::vector<double> prediction;

    RegressionRows rows() const { return {label, group, 3, weight}; }
};

Made made(size_t n, uint64_t seed) {
    base::Random random(seed);
    Made out;
    for (size_t i = 0; i < n; ++i) {
        out.group.push_back(static_cast<int32_t>(i % 3));
        out.label.push_back(i % 7 == 0 ? 1.0 : random.uniform());
        out.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
        out.prediction.push_back(random.uniform(-0.1, 1.1));
    }
    return out;
}

std::vector<RegressionLoss> losses() {
    const auto wave = [](double y, double u) { return 1 + std::sin(4 * (u - y)); };
    return {RegressionLoss::squared(),
            RegressionLoss::absolute(),
            *RegressionLoss::logistic(),
            *RegressionLoss::quantile(0.2),
            *RegressionLoss::huber(0.3),
            *RegressionLoss::poisson(),
            *RegressionLoss::user("wave", wave, 4, false)};
}

double clipped(double u) { return std::min(1.0, std::max(0.0, u)); }

TEST(Levels, AreFloorsOnTheGrid) {
    EXPECT_EQ(levels_of(std::vector{-3.0, 0.0, 0.24, 0.25, 0.5, 0.99, 1.0, 7.0}, 4),
              (std::vector<uint8_t>{0, 0, 0, 1, 2, 3, 4, 4}));
    EXPECT_EQ(levels_of(std::vector{0.9, 1.0}, 1), (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(levels_of(std::vector{1.0}, 255), (std::vector<uint8_t>{255}));
}

TEST(Levels, TheDiscretisedLossIsWithinTheTheoremsBound) {
    const auto data = made(400, 1);
    for (const auto& loss : losses()) {
        for (const int n : {1, 2, 7, 40, 255}) {
            const auto rows = *LevelRows::create(data.rows(), loss, n);
            EXPECT_DOUBLE_EQ(rows.bound(), loss.lipschitz() / n);
            double exact = 0, all = 0;
            for (size_t i = 0; i < data.label.size(); ++i) {
                const double w = static_cast<double>(data.weight[i]);
                exact += w * loss.value(data.label[i], clipped(data.prediction[i]));
                all += w;
            }
            const auto summary = rows.summary(levels_of(data.prediction, n));
            EXPECT_NEAR(summary.loss, exact / all, rows.bound()) << loss.name() << ' ' << n;
            // row by row, not only on average
            for (size_t i = 0; i < 50; ++i) {
                const std::vector<double> label{data.label[i]}, at{data.prediction[i]};
                const auto one = *LevelRows::create({label, {}, 1}, loss, n);
                EXPECT_NEAR(one.summary(levels_of(at, n)).loss,
                            loss.value(label[0], clipped(at[0])), rows.bound() + 1e-12);
            }
        }
    }
}

TEST(Levels, TheCoverIsSparseAndNear) {
    const auto data = made(3000, 2);
    for (const int n : {1, 3, 40}) {
        const auto rows = *LevelRows::create(data.rows(), RegressionLoss::squared(), n);
        const auto cover = rows.cover();
        EXPECT_LE(cover.size(), 2 * static_cast<size_t>(n) + 1);
        for (size_t i = 1; i < cover.size(); ++i) EXPECT_GT(cover[i] - cover[i - 1], 0.5 / n);
        for (size_t i = 0; i < data.label.size(); ++i) {
            const uint32_t cell = rows.cells()[i];
            EXPECT_EQ(cell / cover.size(), static_cast<size_t>(data.group[i]));
            const double rounded = cover[cell % cover.size()];
            EXPECT_LE(rounded, data.label[i]);
            EXPECT_LE(data.label[i] - rounded, 0.5 / n);
        }
    }
}

TEST(Levels, LemmaOneCostsAndDisparitiesAreThoseOfTheClassifiers) {
    const auto data = made(300, 3);
    const int n = 10;
    for (const auto& loss : losses()) {
        const auto rows = *LevelRows::create(data.rows(), loss, n);
        const auto levels = levels_of(data.prediction, n);
        const auto summary = rows.summary(levels);
        const auto gamma = rows.disparities(summary.tails);
        // the definitions, classifier by classifier: eq. 9 and 10
        double cost = 0, c0 = 0, total = 0;
        std::vector<double> above(3 * n), in_group(3), above_all(n);
        for (size_t i = 0; i < data.label.size(); ++i) {
            const double w = static_cast<double>(data.weight[i]);
            const double y = rows.cover()[rows.cells()[i] % rows.labels()];
            const auto k = static_cast<size_t>(data.group[i]);
            total += w;
            in_group[k] += w;
            c0 += w * loss.value(y, 0.5 / n);
            for (int j = 1; j <= n; ++j) {
                const double z = static_cast<double>(j) / n;
                if (clipped(data.prediction[i]) * n < j) continue;
                const double c =
                    n * (loss.value(y, std::min(1.0, z + 0.5 / n)) - loss.value(y, z - 0.5 / n));
                EXPECT_LE(std::abs(c), loss.lipschitz() + 1e-9);
                cost += w * c / n;
                above[k * n + static_cast<size_t>(j) - 1] += w;
                above_all[static_cast<size_t>(j) - 1] += w;
            }
        }
        EXPECT_NEAR(summary.loss, (cost + c0) / total, 1e-12) << loss.name();
        for (size_t k = 0; k < 3; ++k)
            for (size_t j = 0; j < static_cast<size_t>(n); ++j)
                EXPECT_NEAR(gamma[k * n + j], above[k * n + j] / in_group[k] - above_all[j] / total,
                            1e-12);
    }
}

TEST(Levels, TailsFallAndDisparitiesBalance) {
    const auto data = made(500, 4);
    const auto rows = *LevelRows::create(data.rows(), RegressionLoss::squared(), 20);
    const auto summary = rows.summary(levels_of(data.prediction, 20));
    const auto gamma = rows.disparities(summary.tails);
    for (size_t k = 0; k < 3; ++k)
        for (size_t j = 1; j < 20; ++j)
            EXPECT_LE(summary.tails[k * 20 + j], summary.tails[k * 20 + j - 1] + 1e-12);
    for (size_t j = 0; j < 20; ++j) {
        double sum = 0;
        for (size_t k = 0; k < 3; ++k) sum += rows.shares()[k] * gamma[k * 20 + j];
        EXPECT_NEAR(sum, 0, 1e-12);
    }
    const auto same = rows.constant(7);
    for (const double g : rows.disparities(same.tails)) EXPECT_NEAR(g, 0, 1e-15);
    EXPECT_EQ(same.tails[6], 1);
    EXPECT_EQ(same.tails[7], 0);
}

TEST(Levels, CostsAddUpToTheLagrangian) {
    const auto data = made(300, 5);
    const auto rows = *LevelRows::create(data.rows(), *RegressionLoss::logistic(), 12);
    base::Random random(6);
    std::vector<double> lambda(3 * 12);
    for (double& l : lambda) l = random.uniform(-1, 1);
    const auto costs = rows.costs(lambda);
    const auto levels = levels_of(data.prediction, 12);
    const auto summary = rows.summary(levels);
    const auto gamma = rows.disparities(summary.tails);
    const double expected =
        summary.loss + std::inner_product(lambda.begin(), lambda.end(), gamma.begin(), 0.0);
    EXPECT_NEAR(rows.mean(costs, levels), expected, 1e-12);

    // the best level of each cell, and no other predictor's, is the least that L can be
    const auto best = rows.best_levels(costs);
    std::vector<uint8_t> chosen;
    for (const uint32_t cell : rows.cells()) chosen.push_back(best[cell]);
    const double least = rows.mean(costs, chosen);
    EXPECT_LT(least, expected);
    for (size_t i = 0; i < 100; ++i) {
        auto other = chosen;
        other[i] = static_cast<uint8_t>(random.below(13));
        EXPECT_GE(rows.mean(costs, other), least - 1e-15);
    }
}

TEST(Levels, WithoutMultipliersTheBestLevelIsTheLabels) {
    const std::vector<double> label{0, 0.11, 0.52, 0.99, 1};
    const auto rows = *LevelRows::create({label, {}, 1}, RegressionLoss::squared(), 10);
    const auto best = rows.best_levels(rows.costs(std::vector<double>(10)));
    std::vector<int> levels;
    for (const uint32_t cell : rows.cells()) levels.push_back(best[cell]);
    EXPECT_EQ(levels, (std::vector<int>{0, 1, 5, 10, 10}));  // 1 is a level of its own
    EXPECT_DOUBLE_EQ(rows.middle(5), 0.55);
    EXPECT_DOUBLE_EQ(rows.middle(10), 1);
}

TEST(Levels, GroupLossesAreMeansByWeight) {
    const std::vector<double> label{0, 1, 0.5}, prediction{0.5, 0.5, 0.5};
    const std::vector<int32_t> group{0, 0, 1};
    const std::vector<float> weight{1, 3, 1};
    const RegressionRows rows{label, group, 2, weight};
    EXPECT_EQ(group_losses(rows, RegressionLoss::squared(), prediction),
              (std::vector<double>{0.125, 0}));
    EXPECT_EQ(group_shares(rows), (std::vector<double>{0.8, 0.2}));
}

TEST(Levels, BadRowsAreNamed) {
    const auto reason = [](const auto& change, int levels = 4) {
        auto data = made(30, 7);
        RegressionRows rows = data.rows();
        change(data, rows);
        const auto made_rows = LevelRows::create(rows, RegressionLoss::squared(), levels);
        return made_rows ? std::string("none") : made_rows.error().reason;
    };
    const auto nothing = [](auto&, auto&) {};
    EXPECT_EQ(reason(nothing), "none");
    EXPECT_EQ(reason(nothing, 0), "bad_levels");
    EXPECT_EQ(reason(nothing, 256), "bad_levels");
    EXPECT_EQ(reason([](auto& d, auto&) { d.label[3] = 1.001; }), "label_outside_range");
    EXPECT_EQ(reason([](auto& d, auto&) { d.label[3] = std::nan(""); }), "label_outside_range");
    EXPECT_EQ(reason([](auto&, auto& r) { r.groups = 4; }), "empty_group");
    EXPECT_EQ(reason([](auto&, auto& r) { r.groups = 2; }), "bad_group");
    EXPECT_EQ(reason([](auto&, auto& r) { r.groups = 0; }), "bad_groups");
    EXPECT_EQ(reason([](auto&, auto& r) { r.groups = 65; }), "bad_groups");
    EXPECT_EQ(reason([](auto& d, auto&) { d.group[2] = -1; }), "bad_group");
    EXPECT_EQ(reason([](auto& d, auto&) { d.weight[2] = 0; }), "bad_weight");
    EXPECT_EQ(reason([](auto&, auto& r) { r.weight = r.weight.first(5); }), "bad_size");
    EXPECT_EQ(reason([](auto&, auto& r) { r.group = {}; }), "bad_size");
    EXPECT_EQ(reason([](auto&, auto& r) { r.label = {}; }), "no_rows");
}

}  // namespace
}  // namespace rampart::fair_regression
