#include "rampart/ope/importance_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "support/golden_numbers.hpp"

namespace rampart::ope {
namespace {

TEST(Weights, DiagnosticsAgreeWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const auto p = golden.array({"p"}), candidate = golden.array({"r"}), a = golden.array({"A"});
    const auto each = golden.array({"w"});
    WeightSums sums;
    for (size_t i = 0; i < p.size(); ++i) {
        sums.add(candidate[i], p[i], a[i] != 0);
        EXPECT_NEAR(importance_weight(candidate[i], p[i], a[i] != 0), each[i], 1e-12);
    }
    const WeightDiagnostics w = sums.diagnostics();
    EXPECT_EQ(w.records, 60u);
    EXPECT_NEAR(w.mean_weight, golden.number({"diagnostics", "mean_w"}), 1e-12);
    EXPECT_NEAR(w.mean_weight_z, golden.number({"diagnostics", "z_Ew"}), 1e-10);
    EXPECT_NEAR(w.effective_records, golden.number({"diagnostics", "ess"}), 1e-10);
    EXPECT_NEAR(w.calibration_z, golden.number({"diagnostics", "z_calibration"}), 1e-10);
    EXPECT_GT(w.max_weight_deviation, 0.3);
    EXPECT_LT(w.max_weight_deviation, 0.5);
}

TEST(Weights, AreTheRatioForTheActionTaken) {
    EXPECT_DOUBLE_EQ(importance_weight(0.6, 0.5, true), 1.2);
    EXPECT_DOUBLE_EQ(importance_weight(0.6, 0.5, false), 0.8);
}

double z_of(const std::vector<std::pair<double, bool>>& records) {
    CalibrationTest test;
    for (const auto& [p, approved] : records) test.add(p, approved);
    return test.z();
}

TEST(Calibration, CertainDecisionsCountOnlyIfTheyAreContradicted) {
    EXPECT_EQ(z_of({{1, true}, {1, true}, {0, false}}), 0);
    EXPECT_TRUE(std::isinf(z_of({{1, true}, {1, false}, {0, false}})));
}

TEST(Calibration, HandWorked) {
    EXPECT_DOUBLE_EQ(z_of({{0.5, true}, {0.5, true}, {0.5, true}, {0.5, true}}), 2);
}

TEST(Calibration, ErrorsThatCancelOverAllStandOutWithinTenths) {
    CalibrationTest cancelling, right;
    for (int i = 0; i < 1000; ++i) {
        cancelling.add(0.25, i % 20 < 8);   // drawn with 0.4
        cancelling.add(0.75, i % 20 < 12);  // drawn with 0.6
        right.add(0.25, i % 4 == 0);
        right.add(0.75, i % 4 != 0);
    }
    EXPECT_NEAR(cancelling.z(), 0, 1e-9);
    EXPECT_GT(cancelling.decile_z(), 5);
    EXPECT_LT(right.decile_z(), 0);
}

TEST(Calibration, TenthsWithLittleInThemAreTakenTogether) {
    CalibrationTest test;
    for (int i = 0; i < 10; ++i) test.add(i / 10.0 + 0.05, true);
    EXPECT_EQ(test.decile_z(), 0) << "all of them together have too little";
    for (int n = 0; n < 3; ++n) {
        for (int i = 0; i < 10; ++i) test.add(i / 10.0 + 0.05, true);
    }
    EXPECT_GT(test.decile_z(), 1) << "one tenth's worth: excess 20, variance 6.7";
}

TEST(Weights, OfNoRecordsSayNothing) {
    const WeightDiagnostics w = WeightSums().diagnostics();
    EXPECT_EQ(w.records, 0u);
    EXPECT_EQ(w.mean_weight_z, 0);
    EXPECT_EQ(w.calibration_z, 0);
    EXPECT_EQ(w.decile_z, 0);
}

}  // namespace
}  // namespace rampart::ope
