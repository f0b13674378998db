#include "reference/elf_constraints.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/logged_sample.hpp"

namespace rampart::reference {
namespace {

using candidate_selection::Constraint;

std::vector<double> values_of(const Constraint& c, const std::vector<double>& pi,
                              const std::vector<double>& reference) {
    std::vector<double> values(c.unit.empty() ? c.rows.size() : c.units, 0.0);
    for (size_t k = 0; k < c.rows.size(); ++k) {
        const double d = pi[c.rows[k]] - reference[c.rows[k]];
        values[c.unit.empty() ? k : c.unit[k]] +=
            c.offset[k] + c.more[k] * std::max(d, 0.0) + c.less[k] * std::max(-d, 0.0);
    }
    return values;
}

TEST(ElfConstraints, ImportanceValuesAreThePapers) {
    const auto drawn = test::draw_log(100, 0.5, 2);
    const auto& log = drawn.log;
    const auto c = importance_constraint(log, log.decisions.groups[0], {-2, 3}, 0.7, 40, 0.1);
    ASSERT_TRUE(c);
    const auto pi = test::shifted(log.decisions.reference, 0.8, 1);
    const auto values = values_of(*c, pi, log.decisions.reference);
    for (size_t k = 0; k < values.size(); ++k) {
        const uint32_t i = c->rows[k];
        const double p = log.decisions.p_approve[i];
        const double w = log.decisions.approved[i] ? pi[i] / p : (1 - pi[i]) / (1 - p);
        EXPECT_NEAR(values[k], 0.7 - w * log.impact[i], 1e-12);
        EXPECT_GE(values[k], c->range->lo);
        EXPECT_LE(values[k], c->range->hi);
    }
}

TEST(ElfConstraints, AccuracyIsTheShareOfDecisionsThatAreTheLabel) {
    const auto drawn = test::draw_log(100, 0.5, 3);
    const auto& beta = drawn.log.decisions.reference;
    const auto pi = test::shifted(beta, -0.6, 1);
    double right = 0;
    for (size_t i = 0; i < pi.size(); ++i) right += drawn.label[i] != 0 ? pi[i] : 1 - pi[i];
    const auto c = accuracy_constraint(drawn.label, beta, 0.8, 40, 0.1);
    double sum = 0;
    for (const double value : values_of(c, pi, beta)) sum += value;
    EXPECT_NEAR(sum, 80 - right, 1e-9);
    const auto loss = error_rate(drawn.label);
    double wrong = 0;
    for (size_t i = 0; i < pi.size(); ++i) wrong += loss.offset[i] + loss.slope[i] * pi[i];
    EXPECT_NEAR(wrong, 100 - right, 1e-9);
}

TEST(ElfConstraints, ARecordWithoutImpactOrPropensityIsRefused) {
    auto missing = test::draw_log(20, 0.5, 4).log;
    auto impossible = missing;
    const uint32_t first = missing.decisions.groups[0].records[0];
    missing.decisions.has_impact[first] = 0;
    impossible.decisions.p_approve[first] = impossible.decisions.approved[first] != 0 ? 0 : 1;
    for (const auto& log : {missing, impossible}) {
        const auto c = importance_constraint(log, log.decisions.groups[0], {-2, 3}, 0, 40, 0.1);
        ASSERT_FALSE(c);
        EXPECT_EQ(c.error().reason, "bad_objective");
    }
}

}  // namespace
}  // namespace rampart::reference
