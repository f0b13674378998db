#include "rampart/dataset/row_keys.hpp"

#include <gtest/gtest.h>

#include "csv_files.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

TEST(RowKeys, RowsOfOneCellAreOneUnit) {
    const TemporaryFile file("person,x,day\nb,1,2006-01-02\na,2,2005\n\"b \",3,2006-02\n");
    const auto keys = read_row_keys(file.path(), "person", "day");
    ASSERT_TRUE(keys) << keys.error().message;
    EXPECT_EQ(keys->unit, (std::vector<uint32_t>{0, 1, 0}));
    EXPECT_EQ(keys->unit_names, (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(keys->scale, TimeScale::kDates);
    EXPECT_EQ(keys->time[1], *parse_date("2005"));
    EXPECT_EQ(keys->time[2], *parse_date("2006-02"));
}

TEST(RowKeys, TimesAreNumbersWhereOneIsNoDate) {
    const TemporaryFile file("t\n2006\n17\n-3.5\n");
    const auto keys = read_row_keys(file.path(), "", "t");
    ASSERT_TRUE(keys) << keys.error().message;
    EXPECT_EQ(keys->scale, TimeScale::kNumbers);
    EXPECT_EQ(keys->time, (std::vector<double>{2006, 17, -3.5}));
    EXPECT_TRUE(keys->unit.empty());
}

TEST(RowKeys, ErrorsNameLineAndColumn) {
    const auto fails = [](const char* text, Reason reason, const char* says) {
        const TemporaryFile file(text);
        const auto keys = read_row_keys(file.path(), "person", "t");
        ASSERT_FALSE(keys) << text;
        EXPECT_TRUE(keys.error().is(reason)) << keys.error().message;
        EXPECT_NE(keys.error().message.find(says), std::string::npos) << keys.error().message;
    };
    fails("person,t\na,2006\n,2006\n", Reason::kEmptySplitCell, "line 3: column 'person'");
    fails("person,t\na,\n", Reason::kEmptySplitCell, "line 2: column 't'");
    fails("person,t\na,soon\n", Reason::kBadSplitTime, "'soon'");
    fails("person,t\na,2006-01\nb,17\n", Reason::kBadSplitTime, "line 3");
    fails("person,t\na,17\nb,2006-01\n", Reason::kBadSplitTime, "are numbers");
    fails("id,t\na,17\n", Reason::kMissingColumn, "'person'");
    const std::string longest(base::limits::kMaxTextBytes, 'x');
    fails(("person,t\n" + longest + "x,1\n").c_str(), Reason::kLongSplitCell, "1025 bytes");
    const TemporaryFile file("person,t\n" + longest + ",1\n");
    EXPECT_TRUE(read_row_keys(file.path(), "person", "t"));
}

TEST(RowKeys, AnotherCellIsAnotherDigest) {
    const TemporaryFile a("p,t\na,1\nb,2\n"), b("p,t\na,1\nb,3\n"), c("p,t\na,1\nc,2\n");
    const auto digest = [](const TemporaryFile& file, const char* by, const char* time) {
        return read_row_keys(file.path(), by, time)->digest;
    };
    EXPECT_NE(digest(a, "p", "t"), digest(b, "p", "t"));
    EXPECT_EQ(digest(a, "p", ""), digest(b, "p", ""));
    EXPECT_NE(digest(a, "p", ""), digest(c, "p", ""));
}

}  // namespace
}  // namespace rampart::dataset
