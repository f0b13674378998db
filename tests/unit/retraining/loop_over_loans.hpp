#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "rampart/joiner/catch_up.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining::test {

inline constexpr int kNow = 150;  // day on which all outcomes are known

/// A store of decisions by a first champion that approves half of all; most of those with a high
/// income repay.
class LoopOverLoans : public testing::Test {
  protected:
    explicit LoopOverLoans(domain::Product product = support::two_measure_product())
        : node_(std::move(product)) {
        auto& config = settings_.gate.config;
        config.impact_lo = node_.product.impact.lo;
        config.impact_hi = node_.product.impact.hi;
        config.declined_impact = node_.product.impact.declined;
        config.max_missing_rate = 0.2;
        settings_.gate.look_again = false;
        settings_.schedule.min_examples = 50;
        const model::BootstrapLink half{"income", {{0, 0.5}}, 0.5};
        const auto policy =
            model::Policy::create(support::SmallNode::schema(), {half}, {}, {}).value();
        champion_ = node_.registry
                        ->register_model(model::encode_model_file(policy), support::day(0), "test")
                        .value();
        EXPECT_TRUE(node_.registry->bootstrap_champion(champion_, support::day(0), "test"));
        for (int i = 0; i < kPersons; ++i) decide(i);
        EXPECT_TRUE(joiner::catch_up(*node_.joiner));
        EXPECT_TRUE(node_.joiner->advance(support::day(kNow)));
    }
    /// Makes a run by the settings as they are now.
    RunRecord run() {
        return TrainingLoop::open(node_.folder() / "trainer", settings_,
                                  {node_.product,
                                   *node_.joiner,
                                   *node_.builder,
                                   *node_.registry,
                                   key_,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {}})
            .value()
            ->run_at(support::day(kNow))
            .value();
    }

    support::SmallNode node_;
    const base::SigningKey key_ = base::SigningKey::generate();
    TrainingSettings settings_;
    domain::PolicyId champion_;

  private:
    static constexpr int kPersons = 1500;

    void decide(int person) {
        const bool good = person % 3 != 0, approved = person % 2 == 0;
        const auto name = fmt::format("{}", person);
        const protected_attributes::ProtectedAttributes known{
            domain::PersonId("p-" + name),
            support::day(0),
            {{"sex", person / 2 % 2 == 0 ? "female" : "male"}}};
        EXPECT_TRUE(node_.attributes->put(std::span(&known, 1), support::day(0)));
        auto decision = support::make_decision(name, support::day(31 + person % 25), approved);
        const double noise = person * 13 % 7;
        decision.application.features = {{"income", (good ? 10.0 : 5.0) + noise}};
        decision.policy = champion_;
        decision.p_exploit = decision.p_approve = decision.propensity = 0.5;
        const auto record = support::to_record(decision);
        EXPECT_TRUE(node_.log.append("decisions", std::span(&record, 1)));
        if (!approved) return;
        report(name, person, "repaid", good ? 1 : 0);
        if (node_.product.impact.measure) report(name, person, "score", good ? 20 : -90);
    }
    void report(const std::string& name, int person, const std::string& measure, double value) {
        const auto outcome = support::to_record(
            support::make_outcome(name, measure, 0, value, support::day(60 + person % 25)));
        EXPECT_TRUE(node_.log.append("outcomes", std::span(&outcome, 1)));
    }
};

}  // namespace rampart::retraining::test
