#include "rampart/dataset/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>

#include "csv_files.hpp"
#include "rampart/base/limits.hpp"

namespace rampart::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

base::Result<Rows> read_all(const std::filesystem::path& path) {
    RAMPART_TRY(auto csv, CsvReader::open(path));
    Rows rows{{csv.columns().begin(), csv.columns().end()}};
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) return rows;
        rows.emplace_back(csv.cells().begin(), csv.cells().end());
    }
}

base::Result<Rows> read_text(std::string_view text) { return read_all(TemporaryFile(text).path()); }

std::string gzip(std::string_view text) {
    std::string out(compressBound(text.size()) + 64, '\0');
    z_stream stream{};
    // 15 + 16: with a gzip header
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

TEST(Csv, ReadsPlainCells) {
    EXPECT_EQ(read_text("a,b\n1,2\n,\n"), (Rows{{"a", "b"}, {"1", "2"}, {"", ""}}));
}

TEST(Csv, TakesQuotesCommasAndLineEndsInsideQuotes) {
    EXPECT_EQ(read_text("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\n"),
              (Rows{{"a", "b"}, {"x,y", "say \"hi\""}, {"two\nlines", ""}}));
}

TEST(Csv, TakesWindowsLineEndsAByteOrderMarkAndNoLastLineEnd) {
    EXPECT_EQ(read_text("\xef\xbb\xbf"
                        "a,b\r\n1,2\r\n\r\n3,4"),
              (Rows{{"a", "b"}, {"1", "2"}, {"3", "4"}}));
}

TEST(Csv, IsSeparatedByWhatTheFirstLineHasMostOf) {
    const Rows two{{"a", "b"}, {"1,5", "x"}};
    EXPECT_EQ(read_text("a;b\n1,5;x\n"), two);
    EXPECT_EQ(read_text("\r\na;b\r\n\"1,5\";x"), two);
    EXPECT_EQ(read_text("a\tb\n1,5\tx\n"), two);
    EXPECT_EQ(read_text("a,b\n\"1,5\",x\n"), two);
    EXPECT_EQ(read_text("\"a,,\";b\n;\n"), (Rows{{"a,,", "b"}, {"", ""}}));
    EXPECT_EQ(read_text("a;b,c\n1,2\n"), (Rows{{"a;b", "c"}, {"1", "2"}}));
    EXPECT_EQ(read_text("a;b, EUR;c\n1;2;3\n"), (Rows{{"a", "b, EUR", "c"}, {"1", "2", "3"}}));
    EXPECT_EQ(read_text("a\n1\n"), (Rows{{"a"}, {"1"}}));
    EXPECT_EQ(read_text("a;b\n1\n").error().reason, "wrong_cell_count");
    EXPECT_EQ(read_text("a;b\n\"1\",2;3\n").error().reason, "text_after_quote");
}

TEST(Csv, ReadsGzipLikePlainText) {
    const TemporaryFile file(gzip("a,b\n1,2\n"), ".csv.gz");
    EXPECT_EQ(read_all(file.path()), (Rows{{"a", "b"}, {"1", "2"}}));
}

TEST(Csv, ATruncatedGzipFileIsNotTheEnd) {
    std::string text = "a,b\n";
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i * 7919 % 10'007) + ",x\n";
    const std::string packed = gzip(text);
    for (const size_t keep : {packed.size() - 1, packed.size() / 2, size_t{30}}) {
        const TemporaryFile file(packed.substr(0, keep), ".csv.gz");
        const auto rows = read_all(file.path());
        ASSERT_FALSE(rows) << keep;
        EXPECT_EQ(rows.error().code, base::ErrorCode::kDataLoss);
    }
}

TEST(Csv, KnowsTheLineOfEachRecord) {
    const TemporaryFile file("a,b\n\"x\ny\",1\n\n2,3\n");
    auto csv = CsvReader::open(file.path()).value();
    ASSERT_TRUE(csv.next().value());
    EXPECT_EQ(csv.line(), 2u);
    ASSERT_TRUE(csv.next().value());
    EXPECT_EQ(csv.line(), 5u);
    EXPECT_FALSE(csv.next().value());
    EXPECT_FALSE(csv.next().value());
}

struct BadCase {
    const char* text;
    const char* reason;
    const char* in_message;
};

TEST(Csv, SaysWhatIsWrongAndWhere) {
    for (const auto& [text, reason, in_message] : std::vector<BadCase>{
             {"", "empty_file", "is empty"},
             {"\n\n", "empty_file", "is empty"},
             {"a,b\n1\n", "wrong_cell_count", "line 2: 1 cells where the header names 2"},
             {"a,b\n1,2\n1,2,3\n", "wrong_cell_count", "line 3: 3 cells"},
             {"a,a\n", "duplicate_column", "'a'"},
             {"a,b\n1,5\"\n2,3\n", "stray_quote", "line 2: column 2"},
             {"a,b\n\"1\"x,2\n", "text_after_quote", "line 2: column 1"},
             {"a,b\n1,2\n3,\"4\n5,6\n", "open_quote", "line 3: column 2"},
             {"a,b\n1,M\xfcller\n", "not_utf8", "line 2"}}) {
        const auto rows = read_text(text);
        ASSERT_FALSE(rows) << text;
        EXPECT_EQ(rows.error().reason, reason) << text;
        EXPECT_THAT(rows.error().message, HasSubstr(in_message));
    }
}

TEST(Csv, AFileThatIsNotThereOrAFolderIsNoCsv) {
    EXPECT_EQ(CsvReader::open("/nonexistent/x.csv").error().code, base::ErrorCode::kNotFound);
    EXPECT_EQ(CsvReader::open(testing::TempDir()).error().reason, "is_folder");
}

TEST(Csv, LimitsHoldAtTheLimitAndPastIt) {
    const std::string fits(base::limits::kMaxRecordBytes - 3, 'x');
    EXPECT_EQ(read_text("a,b\n" + fits + ",1\n").value()[1][0].size(), fits.size());
    EXPECT_EQ(read_text("a,b\n" + fits + "xx,1\n").error().reason, "record_too_long");
    EXPECT_EQ(read_text("a,b\n\"" + fits + "xx\",1\n").error().code,
              base::ErrorCode::kInvalidArgument);

    const auto header = [](size_t columns) {
        std::string text = "c0";
        for (size_t i = 1; i < columns; ++i) text += ",c" + std::to_string(i);
        return text + "\n";
    };
    EXPECT_EQ(read_text(header(kMaxCsvColumns)).value()[0].size(), kMaxCsvColumns);
    EXPECT_EQ(read_text(header(kMaxCsvColumns + 1)).error().reason, "too_many_columns");

    const std::string name(base::limits::kMaxNameBytes, 'n');
    EXPECT_TRUE(read_text(name + ",b\n"));
    EXPECT_EQ(read_text(name + "n,b\n").error().reason, "long_column_name");
}

std::string quoted(const std::string& cell) {
    std::string out = "\"";
    for (const char c : cell) out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

RC_GTEST_PROP(Csv, WhatIsWrittenInQuotesIsReadBack, ()) {
    const auto cell =
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab,\"\n\r 1;\t")));
    const char by = *rc::gen::elementOf(std::string(",;\t"));
    const auto row = rc::gen::container<std::vector<std::string>>(3, cell);
    const auto rows = *rc::gen::container<std::vector<std::vector<std::string>>>(row);
    std::string text = fmt::format("a{0}b{0}c\n", by);
    for (const auto& cells : rows) {
        text += quoted(cells[0]) + by + quoted(cells[1]) + by + quoted(cells[2]) + "\n";
    }
    const auto read = read_text(text);
    RC_ASSERT(read.has_value());
    RC_ASSERT(Rows(read->begin() + 1, read->end()) == rows);
}

RC_GTEST_PROP(Csv, NoTextCrashesTheReader, ()) {
    const auto text =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("a1,\"\n\r\x1f\x8b\xff ")));
    const auto rows = read_text(text);
    RC_ASSERT(rows.has_value() || !rows.error().message.empty());
}

/// The last record of a file without a line end is taken apart byte by byte, others 64 bytes at a
/// time.
RC_GTEST_PROP(Csv, BothWaysToTakeARecordApartAgree, ()) {
    const auto piece =
        rc::gen::element<std::string>("a", "12", ",", ",", "\"", "\"\"", "\",\"", "\n", "\r",
                                      "\xc3\xbc", "\xff", "\"x,\ny\"", std::string(63, 'l'));
    std::string text = "h1,h2\n" + std::string(*rc::gen::inRange<size_t>(0, 130), 'x');
    for (const auto& part : *rc::gen::container<std::vector<std::string>>(piece)) text += part;
    const auto bytewise = read_text(text), blockwise = read_text(text + "\n");
    RC_ASSERT(bytewise.has_value() == blockwise.has_value());
    if (bytewise) RC_ASSERT(*bytewise == *blockwise);
    if (!bytewise) RC_ASSERT(bytewise.error().reason == blockwise.error().reason);
}

TEST(Csv, RecordsMayCrossTheEdgesOfTheBuffer) {
    std::string text = "number,text\n";
    const int rows = 60'000;
    for (int i = 0; i < rows; ++i) {
        text += std::to_string(i) + ",\"row \"\"" + std::to_string(i) + "\"\"\"\n";
    }
    const auto read = read_text(text).value();
    ASSERT_EQ(read.size(), static_cast<size_t>(rows) + 1);
    for (int i = 0; i < rows; ++i) {
        const std::string n = std::to_string(i);
        ASSERT_THAT(read[static_cast<size_t>(i) + 1], ElementsAre(n, "row \"" + n + "\""));
    }
}

TEST(CsvReader, MayBeginAfterAFirstLineThatIsNoHeader) {
    const TemporaryFile file("# run 7, of two, commas\na,b\n1,2\n3\n", ".csv");
    auto csv = CsvReader::open_after_first_line(file.path());
    ASSERT_TRUE(csv) << csv.error().message;
    EXPECT_THAT(csv->columns(), testing::ElementsAre("a", "b"));
    ASSERT_TRUE(csv->next().value());
    EXPECT_THAT(csv->cells(), testing::ElementsAre("1", "2"));
    EXPECT_EQ(csv->line(), 3u);
    const auto damaged = csv->next();
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().message, testing::HasSubstr("line 4"));
    for (const char* text : {"", "# run 7", "# run 7\n"}) {
        const TemporaryFile headless(text, ".csv");
        EXPECT_EQ(CsvReader::open_after_first_line(headless.path()).error().reason, "empty_file")
            << text;
    }
}

}  // namespace
}  // namespace rampart::dataset
