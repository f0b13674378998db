#include "rampart/storage/folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "rampart/base/digest.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::storage {
namespace {

TEST(Folder, TellsADatabaseAndItsFamiliesWithoutOpeningIt) {
    const auto folder = std::filesystem::path(testing::TempDir()) /
                        ("folder" + base::to_hex(base::random_bytes(8)));
    EXPECT_FALSE(is_database(folder));
    EXPECT_EQ(families_in(folder).error().reason, "no_database");
    const auto open = Database::open(folder, {"meta", "joins"});
    ASSERT_TRUE(open);
    EXPECT_TRUE(is_database(folder));
    auto families = families_in(folder).value();
    for (const char* name : {"meta", "joins"}) {
        EXPECT_NE(std::find(families.begin(), families.end(), name), families.end());
    }
    EXPECT_TRUE(Database::open(folder, families, {.read_only = true})) << "as open() takes them";
}

}  // namespace
}  // namespace rampart::storage
