#include "rampart/registry/audit_export.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "rampart/base/digest.hpp"
#include "rampart/registry/model_registry.hpp"
#include "unit/registry/audit_files.hpp"

namespace rampart::registry {
namespace {

using testing::put_audit;
using testing::remove_audit;
using testing::write_audit_log;

const base::TimePoint kMade = base::TimePoint::from_micros(1'700'000'000'000'000);

class AuditExport : public ::testing::Test {
  protected:
    AuditExport()
        : folder_(std::filesystem::path(::testing::TempDir()) /
                  ("audit_export" + base::to_hex(base::random_bytes(8)))),
          entries_(write_audit_log(folder_, 2500)) {}
    ~AuditExport() override { std::filesystem::remove_all(folder_); }

    AuditCheck check(const std::optional<AuditHead>& filed = std::nullopt) const {
        auto checked = check_audit_log(folder_, filed);
        EXPECT_TRUE(checked) << checked.error().message;
        return *std::move(checked);
    }
    /// "NUMBER REASON" of the first broken entry.
    std::string broken(const std::optional<AuditHead>& filed = std::nullopt) const {
        const auto found = check(filed).first_break;
        return found ? fmt::format("{} {}", found->entry, found->error.reason) : "";
    }
    /// An entry with another actor; `again`: its hash is computed anew, as a forger does.
    std::string altered(size_t number, bool again) const {
        auto entry = entries_[number - 1];
        entry.actor = "mallory";
        if (again) entry.hash = hash_of(entry);
        return encode(entry);
    }

    std::filesystem::path folder_;
    std::vector<AuditEntry> entries_;
    const base::SigningKey key_ = base::SigningKey::generate();
    const std::vector<base::VerifyingKey> keys_{key_.public_key()};
};

TEST_F(AuditExport, ALogAsItWasWrittenHasNoBreak) {
    EXPECT_EQ(broken(), "");
    EXPECT_EQ(check().entries, 2500u);
    EXPECT_EQ(broken(head_of(entries_[1233])), "");
    EXPECT_TRUE(ModelRegistry::open(folder_, ModelRegistry::Mode::kReadOnly));
}

TEST_F(AuditExport, AnEntryThatWasEditedIsNamed) {
    put_audit(folder_, 1500, altered(1500, false));
    EXPECT_EQ(broken(), "1500 audit_edited");
    put_audit(folder_, 1500, altered(1500, true));
    EXPECT_EQ(broken(), "1501 audit_edited") << "the next one does not follow";
    EXPECT_FALSE(ModelRegistry::open(folder_, ModelRegistry::Mode::kReadOnly));
    put_audit(folder_, 700, "no entry");
    EXPECT_EQ(broken().substr(0, 4), "700 ");
}

TEST_F(AuditExport, TheLastEntryIsHeldByTheHeadAlone) {
    put_audit(folder_, 2500, altered(2500, true));
    EXPECT_EQ(broken(), "2500 audit_edited");
    std::filesystem::remove(folder_ / "audit.head");
    EXPECT_EQ(broken(), "2501 audit_head");
    EXPECT_EQ(broken(head_of(entries_.back())), "2500 audit_edited") << "the one that was filed";
    ASSERT_TRUE(base::write_file_atomically(folder_ / "audit.head", "2500 ab\n"));
    EXPECT_EQ(broken(), "2501 audit_head");
}

TEST_F(AuditExport, AnEntryThatIsMissingOrMovedIsNamed) {
    remove_audit(folder_, 2500);
    EXPECT_EQ(broken(), "2500 audit_truncated");
    remove_audit(folder_, 41);
    EXPECT_EQ(broken(), "41 audit_reordered");
    put_audit(folder_, 20, encode(entries_[20]));
    put_audit(folder_, 21, encode(entries_[19]));
    EXPECT_EQ(broken(), "20 audit_reordered");
}

TEST_F(AuditExport, AStoreThatIsNotThereIsAnErrorAndNoAnswer) {
    EXPECT_FALSE(check_audit_log(folder_ / "nowhere"));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "nowhere"));
}

TEST_F(AuditExport, AnExportEndsWithAHeadThatItsKeyAloneReads) {
    const auto bytes = export_audit_log(entries_, kMade, key_);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), '\n'), 2501);
    EXPECT_EQ(read_exported_head(bytes, keys_).value(), head_of(entries_.back()));
    EXPECT_TRUE(bytes.starts_with(R"({"number":1,"at":"1970-01-01T00:00:00Z","principal":"anna",)"
                                  R"("action":"accept_gap","details":{"reason":"0","topic":"t"},)"))
        << bytes.substr(0, 200);
    const std::vector<base::VerifyingKey> other{base::SigningKey::generate().public_key()};
    EXPECT_EQ(read_exported_head(bytes, other).error().reason, "other_key");
    EXPECT_EQ(read_exported_head(export_audit_log({}, kMade, key_), keys_).value(), AuditHead{});
}

TEST_F(AuditExport, WhatIsNoExportIsRefused) {
    const auto bytes = export_audit_log(std::span(entries_).first(3), kMade, key_);
    const auto refused = [&](const std::string& text) {
        const auto read = read_exported_head(text, keys_);
        return read ? "" : read.error().reason;
    };
    EXPECT_EQ(refused(""), "truncated");
    EXPECT_EQ(refused("\n"), "truncated");
    EXPECT_EQ(refused(bytes.substr(0, bytes.size() - 1)), "truncated");
    EXPECT_EQ(refused(bytes.substr(0, bytes.find("\n{\"payload") + 1)), "truncated");
    auto changed = bytes;
    char& digit = changed[bytes.find("\"sig\":\"") + 9];  // it stays one of base64
    digit = digit == 'A' ? 'B' : 'A';
    EXPECT_EQ(refused(changed), "bad_signature");
}

}  // namespace
}  // namespace rampart::registry
