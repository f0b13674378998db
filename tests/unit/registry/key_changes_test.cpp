// A key of the store that takes the place of another.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/registry/model_registry.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;

class KeyChanges : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("key_changes.{}", ::getpid());
        fs::remove_all(folder_);
        registry_ = ModelRegistry::open(folder_).value();
    }
    void TearDown() override {
        registry_.reset();
        fs::remove_all(folder_);
    }
    fs::path folder_;
    std::unique_ptr<ModelRegistry> registry_;
};

TEST_F(KeyChanges, AKeyIsReplacedOnceAndWhatItSignedStaysVerifiable) {
    ASSERT_TRUE(registry_->record_keys({{"draw", "d1"}, {"signing", "s1"}}, {}, "test"));
    const auto first = base::SigningKey::generate(), second = base::SigningKey::generate();
    const KeyChange change{"signing", "s1", "s2", "a custodian left", first.public_key().to_pem()};
    ASSERT_TRUE(registry_->replace_key(change, base::TimePoint::from_micros(7), "ada"));
    const auto head = registry_->audit_head();
    for (const auto& bad : {change, KeyChange{"draw", "other", "d2", ""},
                            KeyChange{"draw", "d1", "", ""}, KeyChange{"none", "", "n1", ""}})
        EXPECT_EQ(registry_->replace_key(bad, {}, "ada").error().reason, "keys_recorded");
    EXPECT_EQ(
        registry_->replace_key({"signing", "s2", "s3", "", "no key"}, {}, "ada").error().reason,
        "bad_key");
    EXPECT_EQ(registry_->audit_head(), head);

    registry_.reset();
    registry_ = ModelRegistry::open(folder_).value();
    const std::map<std::string, std::string> ids{{"draw", "d1"}, {"signing", "s2"}};
    EXPECT_EQ(registry_->recorded_keys(), ids);
    ASSERT_TRUE(registry_->record_keys(ids, {}, "test"));
    ASSERT_EQ(registry_->key_changes().size(), 1u);
    const auto known = registry_->key_changes().front();
    EXPECT_EQ(known.from, "s1");
    EXPECT_EQ(known.reason, "a custodian left");
    EXPECT_EQ(known.at, base::TimePoint::from_micros(7));
    const auto keys = registry_->verifying_keys(second.public_key());
    ASSERT_EQ(keys.size(), 2u);
    EXPECT_EQ(keys[0].id(), second.public_key().id());
    EXPECT_EQ(keys[1].id(), first.public_key().id());
    const auto entry = registry_->audit_entries().value().back();
    EXPECT_EQ(entry.action, "key_rotated");
    EXPECT_EQ(entry.actor, "ada");
}

TEST_F(KeyChanges, AChangeOfKeysThatFollowsFromNothingIsNoRegistryToServe) {
    ASSERT_TRUE(registry_->record_keys({{"draw", "d1"}}, {}, "test"));
    ASSERT_TRUE(registry_->record_operation({}, "mallory", "key_rotated",
                                            {{"key", "draw"}, {"from", "dx"}, {"to", "d2"}}));
    registry_.reset();
    EXPECT_EQ(ModelRegistry::open(folder_).error().reason, "audit_edited");
}

}  // namespace
}  // namespace rampart::registry
