#include "rampart/retraining/proposed.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "rampart/base/digest.hpp"
#include "rampart/joiner/catch_up.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "support/half_approved.hpp"
#include "support/small_node.hpp"

namespace rampart::retraining {
namespace {

using certification::Verdict;
using support::day;
using testing::HasSubstr;

constexpr int kPersons = 1500, kNow = 150;

/// A store whose champion approves half of all; those with an income of 10 repay.
class ProposedTest : public testing::Test {
  protected:
    ProposedTest() {
        auto& config = settings_.gate.config;
        config.impact_lo = node_.product.impact.lo;
        config.impact_hi = node_.product.impact.hi;
        config.declined_impact = node_.product.impact.declined;
        config.max_missing_rate = 0.2;
    }
    void fill() {
        champion_ = support::approve_half(*node_.registry);
        for (int i = 0; i < kPersons; ++i)
            support::append_person(node_.log, *node_.attributes, champion_, i, i % 3 != 0 ? 10 : 0,
                                   i % 3 != 0);
        ASSERT_TRUE(joiner::catch_up(*node_.joiner));
        ASSERT_TRUE(node_.joiner->advance(day(kNow)));
    }
    std::unique_ptr<TrainingLoop> loop() {
        return TrainingLoop::open(node_.folder() / "trainer", settings_,
                                  {node_.product,
                                   *node_.joiner,
                                   *node_.builder,
                                   *node_.registry,
                                   key_,
                                   "a secret of 16 bytes",
                                   nullptr,
                                   {}})
            .value();
    }
    /// A model that knows who repays; `sign` -1: one that has it the wrong way round.
    static std::string model(double sign = 1, const std::string& feature = "income") {
        model::LearnedLink link;
        model::Tree tree;
        tree.nodes.resize(3);
        tree.nodes[0] = {.feature = 0, .threshold = 5, .left = 1, .right = 2};
        tree.nodes[1].value = -3 * sign;
        tree.nodes[2].value = 3 * sign;
        link.ensemble.trees = {tree};
        const auto schema =
            dataset::FeatureSchema::create({{feature, dataset::FeatureKind::kNumeric, {}}}).value();
        return model::encode_model_file(model::Policy::create(schema, {link}, {}, {}).value());
    }
    /// Everything that a proposal may leave behind.
    std::array<uint64_t, 3> left_behind() const {
        return {node_.registry->models()->size(), node_.registry->ledger_entries()->size(),
                node_.registry->audit_head().count};
    }

    support::SmallNode node_;
    const base::SigningKey key_ = base::SigningKey::generate();
    TrainingSettings settings_;
    domain::PolicyId champion_;
};

TEST_F(ProposedTest, WithoutSubmissionSaysWhatItWouldDoAndLeavesNothing) {
    fill();
    const auto before = left_behind();
    const auto trainer = loop();
    const auto made = trainer->propose({.model = model()}, day(kNow)).value();
    EXPECT_EQ(made.champion, champion_);
    EXPECT_EQ(made.id.value(), base::sha256(made.file).hex());
    EXPECT_FALSE(made.run);
    EXPECT_EQ(made.proposal.change.changed, 1);
    EXPECT_GT(made.proposal.change.chance.value(), 0.9);
    EXPECT_EQ(left_behind(), before);
    EXPECT_TRUE(trainer->runs()->empty());
    const auto said = boost::json::parse(encode(made, true)).as_object();
    EXPECT_EQ(said.at("candidate"), boost::json::value(made.id.value()));
    EXPECT_EQ(said.at("champion"), boost::json::value(champion_.value()));
    EXPECT_EQ(said.at("groups").as_array().size(), 2u);
    EXPECT_EQ(said.at("groups").at(0).at("group"), "sex=female");
    EXPECT_TRUE(said.at("run").is_null());
    EXPECT_EQ(base::from_base64(said.at("file").as_string()).value(), made.file);
    EXPECT_FALSE(boost::json::parse(encode(made, false)).as_object().contains("file"));
}

TEST_F(ProposedTest, IsTestedPromotedAndTheSameRequestMakesTheNextStep) {
    fill();
    settings_.gate.look_again = false;
    const auto trainer = loop();
    const ProposalRequest request{.model = model(), .submit = true, .proposed_by = "anna"};
    const auto made = trainer->propose(request, day(kNow)).value();
    ASSERT_TRUE(made.run);
    ASSERT_EQ(made.run->verdict, Verdict::kCertified) << made.run->message;
    EXPECT_EQ(made.run->candidate, made.id.value());
    EXPECT_EQ(made.run->figures.at("model"), base::sha256(request.model).hex());
    EXPECT_EQ(node_.registry->champion()->policy, made.id);
    EXPECT_EQ(node_.registry->champion()->actor, "anna");
    const auto audit = node_.registry->audit_entries().value();
    const auto entry = std::find_if(audit.begin(), audit.end(), [](const auto& one) {
        return one.action == "propose_candidate";
    });
    ASSERT_NE(entry, audit.end());
    EXPECT_EQ(entry->actor, "anna");
    EXPECT_EQ(entry->details.at("champion"), champion_.value());
    EXPECT_EQ(boost::json::parse(encode(made, false)).at("run").at("verdict"), "CERTIFIED");
    const auto next = trainer->propose(request, day(kNow)).value();
    EXPECT_EQ(next.champion, made.id);
    EXPECT_EQ(next.proposal.candidate.policy.links().size(), 3u);
    EXPECT_EQ(next.run->ordinal, 2u);
    EXPECT_LT(next.proposal.change.distance, made.proposal.change.distance);
}

TEST_F(ProposedTest, WaitsForPeopleWhereTheSettingsSaySoAndChargesTheSame) {
    fill();
    settings_.on_certified = OnCertified::kPropose;
    settings_.terms = {1, base::Duration::days(7)};
    const auto trainer = loop();
    const ProposalRequest request{.model = model(), .submit = true, .proposed_by = "anna"};
    const auto made = trainer->propose(request, day(kNow)).value();
    ASSERT_EQ(made.run->verdict, Verdict::kCertified) << made.run->message;
    EXPECT_THAT(made.run->message, HasSubstr("proposal 1 is waiting, and needs 1 approval"));
    EXPECT_EQ(node_.registry->champion()->policy, champion_);
    const auto waiting = node_.registry->proposals(day(kNow)).value();
    ASSERT_EQ(waiting.size(), 1u);
    EXPECT_EQ(waiting[0].policy, made.id);
    EXPECT_EQ(waiting[0].proposed_by, "anna");
    EXPECT_EQ(waiting[0].expires, day(kNow + 7));
    const auto charged = node_.registry->ledger_entries()->size();
    const auto approved = node_.registry->approve_proposal(
        1, {waiting[0].digest(), "bert", "seen", day(kNow + 1)}, key_.public_key());
    ASSERT_TRUE(approved) << approved.error().message;
    EXPECT_EQ(node_.registry->champion()->policy, made.id);
    EXPECT_EQ(node_.registry->ledger_entries()->size(), charged) << "an approval costs nothing";
}

TEST_F(ProposedTest, DecidesBesideTheChampionWhereTheSettingsSaySo) {
    fill();
    settings_.on_certified = OnCertified::kChallenger;
    settings_.challenger_share = 0.25;
    const auto trainer = loop();
    const ProposalRequest request{.model = model(), .submit = true, .proposed_by = "anna"};
    const auto made = trainer->propose(request, day(kNow)).value();
    ASSERT_EQ(made.run->verdict, Verdict::kCertified) << made.run->message;
    EXPECT_EQ(node_.registry->champion()->policy, champion_);
    const auto started = node_.registry->assignment_in_force();
    ASSERT_TRUE(started) << made.run->message;
    EXPECT_EQ(started->assignment.id, made.run->certificate);
    EXPECT_EQ(started->who, "anna");
    const std::vector<domain::ArmShare> arms{{champion_, 0.75}, {made.id, 0.25}};
    EXPECT_EQ(started->assignment.arms, arms);
}

TEST_F(ProposedTest, ThatHarmsIsNotCertified) {
    fill();
    const auto made =
        loop()
            ->propose({.model = model(-1), .submit = true, .proposed_by = "anna"}, day(kNow))
            .value();
    EXPECT_EQ(made.run->verdict, Verdict::kNoSolutionFound);
    EXPECT_LT(made.proposal.change.chance.value(), 0.01);
    EXPECT_EQ(node_.registry->champion()->policy, champion_);
}

TEST_F(ProposedTest, WhatCannotBePutOnTheChampionIsRefusedAndLeavesNothing) {
    const auto refusal = [&](ProposalRequest request, int at = kNow) {
        request.submit = true;
        request.proposed_by = "anna";
        const auto before = left_behind();
        const auto made = loop()->propose(request, day(at));
        EXPECT_EQ(left_behind(), before);
        EXPECT_FALSE(made);
        return made ? base::Error{} : made.error();
    };
    EXPECT_EQ(refusal({.model = model()}).reason, "no_champion");
    fill();
    const auto damaged = refusal({.model = model().substr(0, 200)});
    EXPECT_EQ(damaged.code, base::ErrorCode::kInvalidArgument) << damaged.message;
    const auto other = refusal({.model = model(1, "wealth")});
    EXPECT_EQ(other.reason, "other_schema");
    EXPECT_THAT(other.message, HasSubstr("'wealth'"));
    EXPECT_EQ(refusal({.model = model(), .options = {.step = 0.9}}).reason, "bad_proposal");
    EXPECT_EQ(refusal({.model = model()}, -1).reason, "before_promotion");
    EXPECT_EQ(refusal({.model = model()}, 20).reason, "no_development_rows");
    EXPECT_TRUE(loop()->runs()->empty());
}

}  // namespace
}  // namespace rampart::retraining
