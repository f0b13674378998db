#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/bytes.hpp"
#include "rampart/base/file.hpp"
#include "rampart/registry/audit_log.hpp"
#include "rampart/storage/database.hpp"

/// The audit log of a closed registry, written by hand: as who has the files can.
namespace rampart::registry::testing {

inline std::string audit_key(uint64_t number) {
    std::string out;
    base::append_u64(out, number);
    return out;
}

/// Opens the database of a registry's folder, and makes it where there is none.
inline std::unique_ptr<storage::Database> open_database(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    auto database = storage::Database::open(
        folder / "registry",
        {"models", "promotions", "champion", "certificates", "ledger", "audit"}, {});
    EXPECT_TRUE(database) << database.error().message;
    return std::move(*database);
}

inline constexpr storage::ColumnFamily kAuditFamily{5};

/// Puts bytes where an entry is.
inline void put_audit(const std::filesystem::path& folder, uint64_t number,
                      const std::string& bytes) {
    storage::WriteBatch batch;
    batch.put(kAuditFamily, audit_key(number), bytes);
    EXPECT_TRUE(open_database(folder)->write(batch, storage::Sync::kNever));
}

inline void remove_audit(const std::filesystem::path& folder, uint64_t number) {
    storage::WriteBatch batch;
    batch.erase(kAuditFamily, audit_key(number));
    EXPECT_TRUE(open_database(folder)->write(batch, storage::Sync::kNever));
}

/// Makes a chained log of so many entries, and audit.head.
inline std::vector<AuditEntry> write_audit_log(const std::filesystem::path& folder, size_t n) {
    const auto database = open_database(folder);
    std::vector<AuditEntry> entries;
    AuditHead head;
    storage::WriteBatch batch;
    for (size_t i = 0; i < n; ++i) {
        const auto time = base::TimePoint::from_micros(static_cast<int64_t>(i) * 1'500'000);
        entries.push_back(next_entry(head, time, i % 2 == 0 ? "anna" : "bert", "accept_gap",
                                     {{"topic", "t"}, {"reason", std::to_string(i)}})
                              .value());
        head = head_of(entries.back());
        batch.put(kAuditFamily, audit_key(i + 1), encode(entries.back()));
    }
    EXPECT_TRUE(database->write(batch, storage::Sync::kNever));
    EXPECT_TRUE(base::write_file_atomically(folder / "audit.head", to_text(head)));
    return entries;
}

}  // namespace rampart::registry::testing
