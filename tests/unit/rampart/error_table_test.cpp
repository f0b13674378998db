#include "frame/error_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace rampart::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

ErrorEntry entry_of(std::string_view word, std::string_view room) {
    const auto table = error_table();
    const auto found = std::find_if(table.begin(), table.end(), [&](const ErrorEntry& e) {
        return e.info->word == word && e.info->room == room;
    });
    EXPECT_NE(found, table.end()) << room << " " << word;
    return found == table.end() ? table.front() : *found;
}

TEST(ErrorTable, HasTheStatusAndTheExitCodeOfTheCode) {
    const auto gap = entry_of("retention_gap", "streaming");
    EXPECT_EQ(gap.info->code, base::ErrorCode::kDataLoss);
    EXPECT_EQ(gap.http_status, 500);
    EXPECT_EQ(gap.exit_code, 4);
    const auto id = entry_of("bad_id", "domain");
    EXPECT_EQ(id.http_status, 400);
    EXPECT_EQ(id.exit_code, 2);
}

TEST(ErrorTable, HasTheServersOwnStatuses) {
    EXPECT_EQ(entry_of("unauthenticated", "access").http_status, 401);
    EXPECT_EQ(entry_of("body_too_large", "http").http_status, 413);
}

TEST(ErrorTable, IsSortedByWordAndRoom) {
    const auto table = error_table();
    EXPECT_TRUE(std::is_sorted(table.begin(), table.end(), [](const auto& a, const auto& b) {
        return std::pair(a.info->word, a.info->room) < std::pair(b.info->word, b.info->room);
    }));
}

TEST(ErrorTable, ThePageHasALineForEachEntry) {
    const auto page = error_page();
    EXPECT_THAT(page,
                HasSubstr("\n| `unauthenticated` | access | permission_denied | 401 | 2 | Send "));
    const auto lines = static_cast<size_t>(std::count(page.begin(), page.end(), '\n'));
    EXPECT_EQ(lines, error_table().size() + 11);
}

TEST(ErrorTable, NearWordsArePartsAndMisspellings) {
    EXPECT_THAT(near_reasons("retension_gap"), testing::ElementsAre("retention_gap"));
    EXPECT_THAT(near_reasons("gap_not"), Contains("gap_not_accepted"));
    EXPECT_LE(near_reasons("bad_").size(), 5u);
    EXPECT_THAT(near_reasons("quite something else"), IsEmpty());
}

}  // namespace
}  // namespace rampart::cli
