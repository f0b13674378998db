#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "rampart/storage/database.hpp"
#include "rampart/storage/folder.hpp"

/// Damage to a database's files, planted while nothing has it open.
namespace rampart::test_support {

enum class Damage {
    kMostOfATable,  // random bytes over 60 % of it
    kOneByte,       // flipped, in one block of data
};

/// Has all that is in the database in tables, and nothing in write-ahead logs.
inline void compact_all(const std::filesystem::path& database) {
    const auto families = storage::families_in(database).value();
    storage::OpenOptions as_it_is;
    as_it_is.create = false;
    as_it_is.schema.version = storage::Schema::kAnyVersion;
    const auto db = storage::Database::open(database, families, as_it_is).value();
    for (uint32_t i = 0; i < families.size(); ++i) {
        ASSERT_TRUE(db->compact(storage::ColumnFamily{i}));
    }
}

/// The largest table of the database.
inline std::filesystem::path largest_table(const std::filesystem::path& database) {
    std::filesystem::path largest;
    uintmax_t most = 0;
    for (const auto& entry : std::filesystem::directory_iterator(database)) {
        if (entry.path().extension() != ".sst" || entry.file_size() < most) continue;
        most = entry.file_size();
        largest = entry.path();
    }
    return largest;
}

/// Damages the largest table of the database.
inline void damage_table(const std::filesystem::path& database, Damage kind) {
    compact_all(database);
    const auto table = largest_table(database);
    ASSERT_FALSE(table.empty()) << database;
    const auto size = std::filesystem::file_size(table);
    std::fstream file(table, std::ios::in | std::ios::out | std::ios::binary);
    if (kind == Damage::kOneByte) {
        constexpr std::streamoff kInTheFirstBlock = 20;
        file.seekg(kInTheFirstBlock);
        const char byte = static_cast<char>(file.get() ^ 0x01);
        file.seekp(kInTheFirstBlock);
        file.put(byte);
    } else {
        std::mt19937 random(7);
        std::string bytes(size * 6 / 10, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        file.seekp(0);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    ASSERT_TRUE(file.good()) << table;
}

}  // namespace rampart::test_support
