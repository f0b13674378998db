#include "rampart/registry/live.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

using domain::StopKind;
using testing::at;
using testing::must;

std::string rule_file() {
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    return model::encode_model_file(model::Policy::create(schema, {rule}, {}, {}).value());
}

std::string learned_file() {
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    return model::encode_model_file(support::explained_policy(schema, {support::scored_link(0.1)}));
}

/// A first policy from second 10, an epoch and a certified champion from 30, and stops.
class LiveAt : public ::testing::Test {
  protected:
    LiveAt()
        : folder_(std::filesystem::path(::testing::TempDir()) /
                  ("live" + base::to_hex(base::random_bytes(8)))),
          registry_(must(ModelRegistry::open(folder_))) {
        first_ = must(registry_->register_model(rule_file(), at(5), "anna"));
        second_ = must(registry_->register_model(learned_file(), at(5), "anna"));
        EXPECT_TRUE(registry_->bootstrap_champion(first_, at(10), "anna"));
        const auto run =
            testing::run_gate(second_.value(), first_.value(), key_, {}, 0.75, 0.25, 1);
        EXPECT_TRUE(registry_->append_ledger_entries(0, run.ledger, at(11), "gate"));
        const Proof proof{run.files.certificate, run.files.evidence, key_.public_key()};
        must(registry_->store_certificate(proof, at(11), "gate"));
        must(registry_->start_assignment({"one", {}, arms()}, key_.public_key(), at(20), "anna"));
        must(registry_->promote(second_, proof, at(30), "bert"));
        must(registry_->press_stop(StopKind::kExplorationOff, at(40), "carl", "noise"));
        must(registry_->press_stop(StopKind::kRulesOnly, at(50), "dora", "harm"));
        must(registry_->release_stop(StopKind::kRulesOnly, at(60), "dora", "mended"));
    }
    ~LiveAt() override {
        registry_.reset();
        std::filesystem::remove_all(folder_);
    }
    std::vector<domain::ArmShare> arms() const { return {{first_, 0.9}, {second_, 0.1}}; }
    Live live(int64_t second) { return must(live_at(*registry_, at(second))); }
    std::vector<domain::ArmShare> only(const domain::PolicyId& policy) { return {{policy, 1}}; }

    std::filesystem::path folder_;
    const base::SigningKey key_ = base::SigningKey::generate();
    std::unique_ptr<ModelRegistry> registry_;
    domain::PolicyId first_, second_;
};

TEST_F(LiveAt, BeforeTheFirstPolicyNothingDecided) {
    const auto before = live(9);
    EXPECT_TRUE(before.decides.empty());
    EXPECT_FALSE(before.champion);
    EXPECT_NE(to_json(before).find(R"("decides":[],"champion":null)"), std::string::npos);
}

TEST_F(LiveAt, TheChampionOfTheTimeDecidedUnlessRulesOnlyDid) {
    EXPECT_EQ(live(10).decides, only(first_));
    EXPECT_EQ(live(19).decides, only(first_));
    EXPECT_EQ(live(30).decides, only(second_));
    EXPECT_EQ(live(45).decides, only(second_)) << "without exploration";
    EXPECT_EQ(live(50).decides, only(first_));
    EXPECT_EQ(live(50).champion->policy, second_);
    EXPECT_EQ(live(60).decides, only(second_));
}

TEST_F(LiveAt, SaysCertificateStopsAndEpoch) {
    EXPECT_EQ(live(20).certificate, "");
    EXPECT_EQ(live(30).certificate, "e1r1");
    EXPECT_TRUE(live(39).stops.empty());
    EXPECT_EQ(live(40).stops.size(), 1u);
    EXPECT_EQ(live(59).stops.size(), 2u);
    ASSERT_EQ(live(60).stops.size(), 1u);
    EXPECT_EQ(live(60).stops[0].reason, "noise");
    ASSERT_TRUE(live(40).epoch);
    EXPECT_EQ(live(40).epoch->epoch, 1u);
    const auto json = to_json(live(50));
    for (const char* part : {R"("certificate":"e1r1")", R"("kind":"rules_only")", R"("by":"dora")",
                             R"("end_reason":"mended")", R"("number":1)", R"("assignment":null)"})
        EXPECT_NE(json.find(part), std::string::npos) << part << " in " << json;
}

TEST_F(LiveAt, TheArmsOfAnAssignmentDecidedTogether) {
    for (const int64_t second : {20, 29}) EXPECT_EQ(live(second).decides, arms());
    EXPECT_EQ(live(20).assignment->assignment.id, "one");
    EXPECT_FALSE(live(30).assignment);
}

}  // namespace
}  // namespace rampart::registry
