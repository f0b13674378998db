#include "rampart/registry/vault_export.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"

namespace rampart::registry {
namespace {

base::TimePoint at(int64_t micros) { return base::TimePoint::from_micros(micros); }

class VaultExportTest : public ::testing::Test {
  protected:
    ~VaultExportTest() override {
        registry_.reset();
        std::filesystem::remove_all(folder_);
    }
    std::optional<base::TimePoint> latest() const {
        return vault_exported_as_known_at(*registry_).value();
    }

    std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                    ("vault_export" + base::to_hex(base::random_bytes(8)));
    std::unique_ptr<ModelRegistry> registry_ = ModelRegistry::open(folder_).value();
};

TEST_F(VaultExportTest, TheLatestTimeAsKnownAtIsKeptToTheMicrosecondAndAfterARestart) {
    EXPECT_FALSE(latest());
    ASSERT_TRUE(record_vault_export(*registry_, {at(1'000'007), at(9'000'000), "anna", "study"}));
    ASSERT_TRUE(record_vault_export(*registry_, {at(500'000), at(9'000'001), "bert", "again"}));
    EXPECT_EQ(latest(), at(1'000'007));
    const auto entry = registry_->audit_entries()->back();
    EXPECT_EQ(entry.action, "export_vault");
    EXPECT_EQ(entry.actor, "bert");
    EXPECT_EQ(entry.details.at("reason"), "again");
    registry_.reset();
    registry_ = ModelRegistry::open(folder_).value();
    EXPECT_EQ(latest(), at(1'000'007));
}

TEST_F(VaultExportTest, WithoutAReasonOrATimeThereIsNone) {
    EXPECT_EQ(record_vault_export(*registry_, {at(1), at(2), "anna", ""}).error().reason,
              "reason_missing");
    EXPECT_FALSE(latest());
    ASSERT_TRUE(registry_->record_operation(at(2), "anna", "export_vault", {}));
    EXPECT_EQ(vault_exported_as_known_at(*registry_).error().reason, "audit_format");
}

}  // namespace
}  // namespace rampart::registry
