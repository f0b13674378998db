#include "rampart/budro/audit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::budro {
namespace {

/// Four people on a line: two alike at 0, two alike at 10.
struct Four {
    Points points{4, 1, {0, 0, 10, 10}};
    std::vector<uint8_t> labels{1, 1, 0, 1};
    std::vector<double> answers{0.9, 0.6, 0.2, 0.5};
    AuditedRows view() const { return {&points, labels, answers, {}}; }
};

IndividualAuditParams with(double epsilon, AuditLoss loss = AuditLoss::kLog) {
    IndividualAuditParams params;
    params.transport.epsilon = epsilon;
    params.loss = loss;
    return params;
}

TEST(IndividualAudit, PeopleAtOnePlaceAreEachAnsweredAsTheWorstOfThem) {
    const Four four;
    const auto audit = audit_individual(four.view(), with(0), nullptr);
    ASSERT_TRUE(audit) << audit.error().message;
    EXPECT_NEAR(audit->loss, -(std::log(0.9) + std::log(0.6) + std::log(0.8) + std::log(0.5)) / 4,
                1e-12);
    // 0 as 1 (0.9 -> 0.6), 2 as 3 (0.2 -> 0.5, label 0), 3 as 2 (0.5 -> 0.2)
    EXPECT_NEAR(audit->robust_loss,
                -(std::log(0.6) + std::log(0.6) + std::log(0.5) + std::log(0.2)) / 4, 1e-12);
    EXPECT_NEAR(audit->bound, audit->robust_loss, 1e-12);
    EXPECT_NEAR(audit->performance_gap(), audit->robust_loss - audit->loss, 1e-15);
    EXPECT_EQ(audit->cost, 0);
    EXPECT_NEAR(audit->moved, 0.75, 1e-12);
    EXPECT_EQ(audit->pairs, 3u);
    ASSERT_EQ(audit->worst.size(), 3u);
    EXPECT_EQ(audit->worst[0].person, 3u);  // log 0.5 / 0.2 is the largest
    EXPECT_EQ(audit->worst[0].other, 2u);
    EXPECT_NEAR(audit->worst[0].excess(), std::log(0.5 / 0.2) / 4, 1e-12);
}

TEST(IndividualAudit, TheWorstPairsAddUpToThePerformanceGap) {
    base::Random random(3);
    Points points{300, 2, {}};
    std::vector<uint8_t> labels;
    std::vector<double> answers, weights;
    for (size_t i = 0; i < 300; ++i) {
        points.values.push_back(random.normal());
        points.values.push_back(random.normal());
        labels.push_back(random.bernoulli(0.4));
        answers.push_back(random.uniform());
        weights.push_back(random.uniform(0.5, 2));
    }
    auto params = with(0.05);
    params.most_pairs = 10'000;
    const AuditedRows rows{&points, labels, answers, weights};
    const auto audit = audit_individual(rows, params, nullptr).value();
    double sum = 0, spent = 0;
    for (const auto& pair : audit.worst) {
        sum += pair.excess();
        spent += pair.mass * pair.squared_distance;
        EXPECT_GE(pair.other_loss, pair.loss);
    }
    EXPECT_NEAR(sum, audit.performance_gap(), 1e-12);
    EXPECT_NEAR(spent, 0.05, 1e-12);
    EXPECT_NEAR(audit.cost, 0.05, 1e-12);
    EXPECT_NEAR(audit.gap_at_most(), audit.performance_gap(), 1e-11);
    for (size_t k = 1; k < audit.worst.size(); ++k)
        EXPECT_GE(audit.worst[k - 1].excess(), audit.worst[k].excess());
    params.most_pairs = 2;
    const auto few = audit_individual(rows, params, nullptr).value();
    EXPECT_EQ(few.worst.size(), 2u);
    EXPECT_EQ(few.pairs, audit.pairs);
    base::ThreadPool pool(3);
    EXPECT_EQ(audit_individual(rows, params, &pool)->robust_loss, few.robust_loss);
}

TEST(IndividualAudit, AModelThatSaysTheSameOfEverybodyHasNoGap) {
    Four four;
    four.answers.assign(4, 0.3);
    for (const double epsilon : {0.0, 1.0, 1e6}) {
        const auto audit = audit_individual(four.view(), with(epsilon), nullptr).value();
        EXPECT_NEAR(audit.performance_gap(), 0, 1e-14);
        EXPECT_EQ(audit.worst.size(), 0u);
    }
}

TEST(IndividualAudit, DecisionsCountAsErrors) {
    Four four;
    four.answers = {1, 0, 0, 0.5};  // P(approve)
    const auto audit =
        audit_individual(four.view(), with(0, AuditLoss::kDecision), nullptr).value();
    EXPECT_NEAR(audit.loss, (0 + 1 + 0 + 0.5) / 4, 1e-15);
    EXPECT_NEAR(audit.robust_loss, (1 + 1 + 0.5 + 1) / 4, 1e-15);
}

TEST(IndividualAudit, CertainAnswersHaveAFiniteLoss) {
    Four four;
    four.answers = {0, 1, 1, 0};
    const auto audit = audit_individual(four.view(), with(1), nullptr).value();
    EXPECT_TRUE(std::isfinite(audit.robust_loss));
    EXPECT_GT(audit.loss, 10);
}

TEST(IndividualAudit, BadInputIsRefused) {
    Four four;
    EXPECT_EQ(audit_individual(four.view(), with(-1), nullptr).error().reason,
              "bad_transport_parameter");
    auto params = with(1);
    params.transport.method = TransportMethod::kSgd;
    EXPECT_EQ(audit_individual(four.view(), params, nullptr).error().reason, "bad_audit_parameter");
    params = with(1);
    params.most_pairs = 10'001;
    EXPECT_EQ(audit_individual(four.view(), params, nullptr).error().reason, "bad_audit_parameter");
    four.answers[2] = 1.5;
    EXPECT_EQ(audit_individual(four.view(), with(1), nullptr).error().reason, "bad_answer");
    four.answers.pop_back();
    EXPECT_EQ(audit_individual(four.view(), with(1), nullptr).error().reason, "bad_size");
}

}  // namespace
}  // namespace rampart::budro
