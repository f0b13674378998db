#include "rampart/gate_log/elf.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "made_up_log.hpp"
#include "rampart/stats/confidence_bound.hpp"

namespace rampart::gate_log {
namespace {

using stats::BoundMethod;

class ElfTest : public ::testing::Test, protected test::LogFolder {
  protected:
    LogSettings own_impacts() const {
        return settings(
            "[gate]\n[impact]\nminimum = -1.0\nmaximum = 1.0\n"
            "[groups]\ncolumns = [\"sex\"]\n");
    }
    const std::string header_{test::kHeader};
};

TEST_F(ElfTest, FollowsThePapersFormulas) {
    const auto settings = own_impacts();
    const auto log = read(header_ +
                              "a,p1,2026-01-01,vault,old,0.5,approve,0.75,0.5,1,F\n"
                              "b,p2,2026-01-02,vault,old,0.25,decline,0.5,0.25,-0.5,F\n"
                              "c,p3,2026-01-03,vault,old,0.8,approve,0.4,0.8,0.5,F\n"
                              "d,p4,2026-01-04,development,old,0.8,approve,0.4,0.8,0,F\n",
                          settings)
                         .value();
    const double tau = 0.25;  // mean of all four
    const double value[] = {1.5 - tau, 2 / 3.0 * -0.5 - tau, 0.25 - tau};
    const double mean = (value[0] + value[1] + value[2]) / 3;
    double squares = 0;
    for (const double x : value) squares += (x - mean) * (x - mean);
    const auto t = elf_test(log, settings.gate.config, BoundMethod::kStudentT)->groups.at(0);
    EXPECT_EQ(t.name, "sex=F");
    EXPECT_EQ(t.records, 3u);
    EXPECT_EQ(t.tau, tau);
    EXPECT_NEAR(t.estimate, mean, 1e-15);
    const double t_quantile = 1.8856180831641267;  // quantile 0.9 with two degrees of freedom
    EXPECT_NEAR(t.lower, mean - std::sqrt(squares / 2 / 3) * t_quantile, 1e-9);
    EXPECT_NEAR(t.largest_weight, 3, 1e-12) << "0.6 / 0.2, which was not drawn";
    const auto h = elf_test(log, settings.gate.config, BoundMethod::kHoeffding)->groups.at(0);
    EXPECT_NEAR(h.lower, mean - 6 * std::sqrt(std::log(10) / 6), 1e-9);
    EXPECT_FALSE(h.passed);
}

TEST_F(ElfTest, MissingImpactsAreTheWorstAndDeclinesTheSettings) {
    const auto settings = this->settings();  // declined = 0
    const auto log = read(header_ +
                              "a,p1,2026-01-01,vault,old,0.5,approve,0.5,0.5,,F\n"
                              "b,p2,2026-01-02,vault,old,0.5,decline,0.5,0.5,,F\n"
                              "c,p3,2026-01-03,vault,old,0.5,approve,0.5,0.5,0.5,F\n",
                          settings)
                         .value();
    const auto group = elf_test(log, settings.gate.config, BoundMethod::kStudentT)->groups.at(0);
    EXPECT_EQ(group.missing, 1u);
    EXPECT_EQ(group.tau, 0.25) << "of the two that are known";
    EXPECT_NEAR(group.estimate, -0.5 / 3 - 0.25, 1e-15);
}

TEST_F(ElfTest, PassesAClearGainAndNoLossAndNoEmptyGroup) {
    const auto settings = this->settings();
    const auto lines = [&](double step) { return header_ + test::made_up_lines(8000, step, 1); };
    const auto passed = [&](const std::string& csv, BoundMethod bound) {
        return elf_test(read(csv, settings).value(), settings.gate.config, bound)->passed;
    };
    EXPECT_TRUE(passed(lines(0.4), BoundMethod::kStudentT));
    EXPECT_TRUE(passed(lines(0.4), BoundMethod::kHoeffding));
    EXPECT_FALSE(passed(lines(-0.4), BoundMethod::kStudentT));
    EXPECT_FALSE(passed(lines(0), BoundMethod::kHoeffding));
    EXPECT_FALSE(passed(lines(0.4) + "x,x,2026-01-01,development,old,0.5,decline,0.5,0.5,,X\n",
                        BoundMethod::kStudentT))
        << "a group without a record in the vault";
}

TEST_F(ElfTest, OtherBoundsAndReferralsAreRefused) {
    const auto settings = this->settings();
    const auto log = read(header_ + test::made_up_lines(100, 0.1, 1), settings).value();
    EXPECT_EQ(elf_test(log, settings.gate.config, BoundMethod::kBetting).error().reason,
              "not_in_elf");
    const auto referred =
        read(
            "record,person,time,side,logger,p_approve,action,candidate,reference,impact,sex,"
            "p_refer,candidate_refer,reference_refer\n"
            "a,p1,2026-01-01,vault,old,0.25,refer,0.5,0.25,,F,0.5,0.25,0.5\n",
            settings)
            .value();
    EXPECT_EQ(elf_test(referred, settings.gate.config, BoundMethod::kStudentT).error().reason,
              "not_in_elf");
}

}  // namespace
}  // namespace rampart::gate_log
