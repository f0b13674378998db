// What a deployment was declared to be, beside the audit log that has its digest.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;

class DeclarationRecord : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("declaration.{}", ::getpid());
        fs::remove_all(folder_);
        registry_ = ModelRegistry::open(folder_).value();
    }
    void TearDown() override {
        registry_.reset();
        fs::remove_all(folder_);
    }
    void open_again() {
        registry_.reset();
        registry_ = ModelRegistry::open(folder_).value();
    }
    fs::path folder_;
    std::unique_ptr<ModelRegistry> registry_;
};

TEST_F(DeclarationRecord, IsKeptWithItsDigestInTheAuditLog) {
    EXPECT_EQ(registry_->recorded_declaration().value(), std::nullopt);
    const auto at = base::TimePoint::from_micros(7);
    ASSERT_TRUE(registry_->record_declaration("one", {{"change_01", "first"}}, {}, "rampartd"));
    ASSERT_TRUE(registry_->record_declaration("two", {{"change_01", "x is new"}}, at, "rampartd"));
    open_again();
    EXPECT_EQ(registry_->recorded_declaration().value(), "two");
    const auto entries = registry_->audit_entries().value();
    ASSERT_EQ(entries.size(), 2u);
    EXPECT_EQ(entries.back().action, "declare_schema");
    EXPECT_EQ(entries.back().at, at);
    EXPECT_EQ(entries.back().details.at("change_01"), "x is new");
    EXPECT_EQ(entries.back().details.at("declaration"), base::sha256("two").hex());
    ASSERT_TRUE(registry_->verify_audit());
}

TEST_F(DeclarationRecord, AnotherOneThanTheAuditLogHasIsRefused) {
    ASSERT_TRUE(registry_->record_declaration("one", {}, {}, "rampartd"));
    // an entry with the digest of another text
    ASSERT_TRUE(registry_->record_operation({}, "mallory", "declare_schema",
                                            {{"declaration", base::sha256("two").hex()}}));
    open_again();
    EXPECT_EQ(registry_->recorded_declaration().error().reason, "declaration_edited");
}

}  // namespace
}  // namespace rampart::registry
