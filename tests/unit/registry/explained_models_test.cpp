// Policies whose declines could have no reasons: a registry neither takes them in nor lets them
// decide.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "rampart/registry/model_registry.hpp"
#include "rampart/storage/database.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;
using testing::at;
using ::testing::HasSubstr;

dataset::FeatureSchema one_feature() {
    return dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
}

/// A model as `rampart train` and `import` write it.
std::string without_reference_row() {
    return model::encode_model_file(
        model::Policy::create(one_feature(), {support::scored_link(1)}, {}, {}).value());
}

class ExplainedModels : public ::testing::Test {
  protected:
    ExplainedModels()
        : folder_(fs::path(::testing::TempDir()) /
                  ("explained_models" + base::to_hex(base::random_bytes(8)))) {
        registry_ = ModelRegistry::open(folder_).value();
        const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
        first_ =
            registry_
                ->register_model(model::encode_model_file(
                                     model::Policy::create(one_feature(), {rule}, {}, {}).value()),
                                 at(1), "anna")
                .value();
        EXPECT_TRUE(registry_->bootstrap_champion(first_, at(2), "anna"));
    }
    ~ExplainedModels() override {
        registry_.reset();
        fs::remove_all(folder_);
    }
    /// Registers a model as an earlier release did.
    domain::PolicyId plant(const std::string& file) {
        const auto id = model::policy_id_of(file);
        std::ofstream(folder_ / "models" / (id.value() + ".rmp"), std::ios::binary) << file;
        registry_.reset();
        {
            const auto database =
                storage::Database::open(folder_ / "registry", {"models", "promotions", "champion",
                                                               "certificates", "ledger", "audit"})
                    .value();
            const storage::ColumnFamily models{0};
            storage::WriteBatch batch;
            batch.put(models, id.value(), database->get(models, first_.value()).value().value());
            EXPECT_TRUE(database->write(batch, storage::Sync::kAlways));
        }
        registry_ = ModelRegistry::open(folder_).value();
        return id;
    }

    const fs::path folder_;
    std::unique_ptr<ModelRegistry> registry_;
    domain::PolicyId first_;
};

TEST_F(ExplainedModels, OneThatCannotBeExplainedIsRefusedByNameAndLeavesNothing) {
    const auto file = without_reference_row();
    const auto head = registry_->audit_head();
    const auto refused = registry_->register_model(file, at(3), "anna");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "not_explained");
    EXPECT_THAT(refused.error().message, HasSubstr("one ensemble"));
    EXPECT_THAT(refused.error().message, HasSubstr("rampart candidate"));
    EXPECT_EQ(registry_->audit_head(), head);
    EXPECT_EQ(registry_->models()->size(), 1u);
    EXPECT_FALSE(fs::exists(folder_ / "models" / (model::policy_id_of(file).value() + ".rmp")));
    EXPECT_TRUE(registry_->register_model(model::encode_model_file(support::explained_policy(
                                              one_feature(), {support::scored_link(1)})),
                                          at(3), "anna"));
}

TEST_F(ExplainedModels, OneOfAnEarlierReleaseIsNoLongerPromotedNorAChallenger) {
    const auto file = without_reference_row();
    const auto candidate = plant(file);
    const auto again = registry_->register_model(file, at(3), "anna");
    ASSERT_TRUE(again) << "it is registered: " << again.error().message;
    const auto key = base::SigningKey::generate();
    const auto run = testing::run_gate(candidate.value(), first_.value(), key, {}, 0.75, 0.25, 1);
    ASSERT_TRUE(registry_->append_ledger_entries(0, run.ledger, at(11), "gate"));
    const Proof proof{run.files.certificate, run.files.evidence, key.public_key()};
    ASSERT_TRUE(registry_->store_certificate(proof, at(11), "gate"));
    EXPECT_EQ(registry_->promote(candidate, proof, at(12), "anna").error().reason, "not_explained");
    const domain::Assignment assignment{"one", {}, {{first_, 0.9}, {candidate, 0.1}}};
    EXPECT_EQ(
        registry_->start_assignment(assignment, key.public_key(), at(12), "anna").error().reason,
        "not_explained");
    EXPECT_EQ(registry_->champion()->policy, first_);
}

}  // namespace
}  // namespace rampart::registry
