#include "rampart/ope/importance_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "support/golden_numbers.hpp"

namespace rampart::ope {
namespace {

LoggedDecisions golden_decisions(const test::GoldenNumbers& golden) {
    LoggedDecisions d;
    d.p_approve = golden.array({"p"});
    d.candidate = golden.array({"r"});
    d.reference = d.p_approve;
    for (const double a : golden.array({"A"})) d.approved.push_back(a != 0);
    return d;
}

TEST(Weights, DiagnosticsAgreeWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const LoggedDecisions d = golden_decisions(golden);
    std::vector<uint32_t> all(d.p_approve.size());
    std::iota(all.begin(), all.end(), 0u);
    const WeightDiagnostics w = diagnose(d, all);
    const auto each = golden.array({"w"});
    for (size_t i = 0; i < each.size(); ++i) {
        EXPECT_NEAR(importance_weight(d.candidate[i], d.p_approve[i], d.approved[i] != 0), each[i],
                    1e-12);
    }
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

TEST(Calibration, CertainDecisionsCountOnlyIfTheyAreContradicted) {
    LoggedDecisions d;
    d.p_approve = {1, 1, 0};
    d.approved = {1, 1, 0};
    EXPECT_EQ(calibration_z(d, std::vector<uint32_t>{0, 1, 2}), 0);
    d.approved = {1, 0, 0};
    EXPECT_TRUE(std::isinf(calibration_z(d, std::vector<uint32_t>{0, 1, 2})));
}

TEST(Calibration, HandWorked) {
    LoggedDecisions d;
    d.p_approve = {0.5, 0.5, 0.5, 0.5};
    d.approved = {1, 1, 1, 1};
    EXPECT_DOUBLE_EQ(calibration_z(d, std::vector<uint32_t>{0, 1, 2, 3}), 2);
}

TEST(Weights, OfNoRecordsSayNothing) {
    const WeightDiagnostics w = diagnose({}, {});
    EXPECT_EQ(w.records, 0u);
    EXPECT_EQ(w.mean_weight_z, 0);
    EXPECT_EQ(w.calibration_z, 0);
}

}  // namespace
}  // namespace rampart::ope
