#include "rampart/stats/resampled_mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "rampart/base/random.hpp"

/// The interval of cross-validation covers what a learner would reach, about as often as it says;
/// that of independent figures does not.
namespace rampart::stats {
namespace {

constexpr size_t kCells = 10, kRows = 200, kFolds = 5;

struct Row {
    size_t cell = 0;
    bool label = false;
};

double truth_of(size_t cell) { return 0.1 + 0.8 * static_cast<double>(cell) / (kCells - 1); }

std::vector<Row> draw(size_t n, base::Random& random) {
    std::vector<Row> rows;
    for (size_t i = 0; i < n; ++i) {
        const size_t cell = random.below(kCells);
        rows.push_back({cell, random.bernoulli(truth_of(cell))});
    }
    return rows;
}

/// A learner: the smoothed rate of each cell.
using Model = std::array<double, kCells>;

Model learn(const std::vector<Row>& rows, const std::vector<size_t>& fold, size_t without) {
    std::array<double, kCells> hits{}, all{};
    for (size_t i = 0; i < rows.size(); ++i) {
        if (fold[i] == without) continue;
        hits[rows[i].cell] += rows[i].label;
        all[rows[i].cell] += 1;
    }
    Model model{};
    for (size_t c = 0; c < kCells; ++c) model[c] = (hits[c] + 1) / (all[c] + 2);
    return model;
}

/// Returns the Brier loss of fresh rows, exactly.
double loss_of(const Model& model) {
    double loss = 0;
    for (size_t c = 0; c < kCells; ++c) {
        const double p = truth_of(c), off = model[c] - p;
        loss += (p * (1 - p) + off * off) / kCells;
    }
    return loss;
}

/// Returns the loss on each fold, `repeats` times over.
std::vector<double> cross_validate(const std::vector<Row>& rows, size_t repeats,
                                   base::Random& random) {
    std::vector<double> figures;
    std::vector<size_t> fold(rows.size());
    for (size_t r = 0; r < repeats; ++r) {
        for (size_t i = 0; i < fold.size(); ++i) fold[i] = i % kFolds;
        random.shuffle(std::span(fold));
        for (size_t k = 0; k < kFolds; ++k) {
            const auto model = learn(rows, fold, k);
            double loss = 0, n = 0;
            for (size_t i = 0; i < rows.size(); ++i) {
                if (fold[i] != k) continue;
                loss += std::pow(model[rows[i].cell] - rows[i].label, 2);
                ++n;
            }
            figures.push_back(loss / n);
        }
    }
    return figures;
}

struct Coverage {
    double corrected = 0, naive = 0;
};

Coverage coverage_of(size_t repeats) {
    constexpr int kRepetitions = 1500;
    base::Random random(11);
    // what the learner reaches on the mean over tables of as many training rows
    double truth = 0;
    constexpr int kTables = 20'000;
    const std::vector<size_t> all(kRows, 1);
    for (int t = 0; t < kTables; ++t)
        truth += loss_of(learn(draw(kRows - kRows / kFolds, random), all, 0)) / kTables;
    Coverage out;
    for (int r = 0; r < kRepetitions; ++r) {
        const auto figures = cross_validate(draw(kRows, random), repeats, random);
        const auto covers = [&](double test_to_train) {
            const auto interval = *resampled_mean(figures, test_to_train, 0.95)->interval;
            return interval.lo <= truth && truth <= interval.hi;
        };
        out.corrected += covers(1.0 / (kFolds - 1)) / double{kRepetitions};
        out.naive += covers(0) / double{kRepetitions};
    }
    std::printf("    %zu repeats of %zu folds: corrected %.4f, naive %.4f\n", repeats, kFolds,
                out.corrected, out.naive);
    return out;
}

TEST(ResampledMean, CoversWhereRepeatedFoldsAreTakenForIndependentOnesItDoesNot) {
    const auto found = coverage_of(10);
    EXPECT_GE(found.corrected, 0.93);
    EXPECT_LE(found.corrected, 0.995);
    EXPECT_LT(found.naive, 0.6);
}

TEST(ResampledMean, CoversWithTheFoldsOfOneDivision) {
    const auto found = coverage_of(1);
    EXPECT_GE(found.corrected, 0.93);
    EXPECT_LT(found.naive, found.corrected - 0.02);
}

}  // namespace
}  // namespace rampart::stats
