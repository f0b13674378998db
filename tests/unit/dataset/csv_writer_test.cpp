#include "rampart/dataset/csv_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "csv_files.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/dataset/csv.hpp"

namespace rampart::dataset {
namespace {

namespace fs = std::filesystem;

class CsvWriterTest : public testing::Test {
  protected:
    CsvWriterTest() { fs::create_directories(folder_); }
    ~CsvWriterTest() override { fs::remove_all(folder_); }
    size_t files() const {
        return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
    }
    static std::string text_of(const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    const fs::path folder_ =
        fs::path(testing::TempDir()) / ("csv_writer" + base::to_hex(base::random_bytes(8)));
};

TEST_F(CsvWriterTest, TheFileAppearsWhenItIsWhole) {
    const auto path = folder_ / "scores.csv";
    auto writer = CsvWriter::create(path).value();
    ASSERT_TRUE(writer.add("a,b\n"));
    ASSERT_TRUE(writer.add("1,2\n"));
    EXPECT_FALSE(fs::exists(path));
    ASSERT_TRUE(writer.finish());
    EXPECT_EQ(text_of(path), "a,b\n1,2\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(CsvWriterTest, WhatIsGivenUpLeavesTheFileThatWasThere) {
    const auto path = folder_ / "scores.csv";
    std::ofstream(path) << "old\n";
    {
        auto writer = CsvWriter::create(path).value();
        ASSERT_TRUE(writer.add("new\n"));
    }
    EXPECT_EQ(text_of(path), "old\n");
    EXPECT_EQ(files(), 1u);
}

TEST_F(CsvWriterTest, ANameWithGzIsCompressed) {
    const auto path = folder_ / "scores.csv.gz";
    auto writer = CsvWriter::create(path).value();
    ASSERT_TRUE(writer.add("a,b\n"));
    ASSERT_TRUE(writer.add("1,2\n"));
    ASSERT_TRUE(writer.finish());
    EXPECT_TRUE(text_of(path).starts_with("\x1f\x8b"));
    auto csv = CsvReader::open(path).value();
    EXPECT_THAT(csv.columns(), testing::ElementsAre("a", "b"));
    EXPECT_TRUE(csv.next().value());
    EXPECT_THAT(csv.cells(), testing::ElementsAre("1", "2"));
}

TEST_F(CsvWriterTest, AFolderThatIsNotThereIsNamed) {
    const auto writer = CsvWriter::create(folder_ / "none" / "scores.csv");
    ASSERT_FALSE(writer);
    EXPECT_THAT(writer.error().message, testing::HasSubstr("none/scores.csv"));
}

TEST_F(CsvWriterTest, AFileThatCannotGrowIsAnErrorAndLeavesNothing) {
    const auto path = folder_ / "scores.csv";
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    {
        auto writer = CsvWriter::create(path).value();
        const rlimit small{1 << 16, before.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
        base::Status status = base::ok();
        for (int i = 0; i < 10 && status; ++i) status = writer.add(std::string(1 << 20, '\n'));
        if (status) status = writer.finish();
        ::setrlimit(RLIMIT_FSIZE, &before);
        EXPECT_FALSE(status);
    }
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(files(), 0u);
}

TEST(AppendCell, CellsReadBackAsTheyWere) {
    std::string line;
    for (const char* cell : {"plain", "a,b", "say \"no\"", "two\nlines", "", "semi;colon"})
        append_cell(line.empty() ? line : line += ',', cell);
    const TemporaryFile file("c0,c1,c2,c3,c4,c5\n" + line + "\n");
    auto csv = CsvReader::open(file.path()).value();
    ASSERT_TRUE(csv.next().value());
    EXPECT_THAT(csv.cells(),
                testing::ElementsAre("plain", "a,b", "say \"no\"", "two\nlines", "", "semi;colon"));
}

}  // namespace
}  // namespace rampart::dataset
