#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_tree.hpp"
#include "support/places.hpp"

/// The map of rooms, and the public headers of a room together.
namespace rampart::architecture {
namespace {

/// Libraries in the order in which libs/CMakeLists.txt declares them.
std::vector<std::string> rooms_in_order() {
    std::vector<std::string> rooms;
    for (const auto& line : lines_of(read_text(written_by_cmake() / "library_graph.txt")))
        rooms.push_back(line.substr(0, line.find(':')));
    return rooms;
}

/// The rooms that a map names by a link "](base/README.md)", one a line, in order.
std::vector<std::string> rooms_on_map(const std::string& map) {
    std::vector<std::string> rooms;
    for (const auto& line : lines_of(map)) {
        const size_t end = line.find("/README.md)");
        if (end == std::string::npos) continue;
        const size_t from = line.rfind("](", end);
        if (from == std::string::npos) continue;
        const auto room = line.substr(from + 2, end - from - 2);
        if (room.find('/') == std::string::npos) rooms.push_back(room);
    }
    return rooms;
}

TEST(Rooms, TheMapIsCMakesListInDependencyOrder) {
    const auto rooms = rooms_in_order();
    ASSERT_GT(rooms.size(), 15u);
    EXPECT_EQ(rooms_on_map(read_source("libs/README.md")), rooms)
        << "libs/README.md has one line a room, in the order of libs/CMakeLists.txt";
}

TEST(Rooms, APlantedFaultInAMapIsFound) {
    const std::string map = "# Rooms\n| [`a`](a/README.md) | x |\n| [`b`](b/README.md) | y |\n";
    EXPECT_THAT(rooms_on_map(map), testing::ElementsAre("a", "b"));
    EXPECT_THAT(rooms_on_map("| `a` | x |\n| [`b`](b/README.md) | y |\n"),
                testing::ElementsAre("b"));
    EXPECT_THAT(rooms_on_map("| [`b`](b/README.md) |\n| [`a`](a/README.md) |\n"),
                testing::ElementsAre("b", "a"));
    EXPECT_THAT(rooms_on_map("[the demo](../tools/demo/README.md)\n"), testing::IsEmpty());
}

// --- public headers of a room together --------------------------------------------------------------

/// Public headers that the file of a room with all its headers leaves out.
std::vector<std::string> left_out(const std::string& together, const fs::path& include) {
    std::vector<std::string> missing;
    for (const auto& header : source_files(include, {".hpp"})) {
        const auto line = "#include \"" + fs::relative(header, include).string() + "\"\n";
        if (together.find(line) == std::string::npos) missing.push_back(header.string());
    }
    return missing;
}

TEST(Rooms, AllPublicHeadersOfARoomAreCompiledTogether) {
    size_t rooms = 0;
    for (const auto& room : rooms_in_order()) {
        const fs::path include = fs::path("libs") / room / "include";
        if (source_files(include, {".hpp"}).empty()) continue;
        ++rooms;
        const fs::path build = written_by_cmake();
        const auto together = read_text(build / "lone" / ("all_of_" + room + ".cpp"));
        EXPECT_THAT(left_out(together, include), testing::IsEmpty());
        const auto folder = build / "CMakeFiles" / ("lone_headers_" + room + ".dir");
        EXPECT_TRUE(fs::exists(folder / "lone" / ("all_of_" + room + ".cpp.o"))) << room;
    }
    EXPECT_GT(rooms, 15u);
}

/// Whether the compiler takes `text` with the planted room's headers.
bool compiles(const std::string& text) {
    const fs::path source = fs::path(testing::TempDir()) / "rampart_planted_room.cpp";
    std::ofstream(source) << text;
    const std::string command = std::string(RAMPART_COMPILER) + " -std=c++20 -fsyntax-only -I '" +
                                test_support::source_dir() +
                                "/tests/architecture/planted/include' '" + source.string() +
                                "' 2>/dev/null";
    const bool taken = std::system(command.c_str()) == 0;
    fs::remove(source);
    return taken;
}

// Its two headers define one name, and each compiles alone.
TEST(Rooms, APlantedRoomWhoseHeadersDoNotGoTogetherIsFound) {
    const auto together = read_text(written_by_cmake() / "lone" / "all_of_planted.cpp");
    const fs::path include = "tests/architecture/planted/include";
    EXPECT_THAT(left_out(together, include), testing::IsEmpty());
    EXPECT_THAT(left_out("#include \"rampart/planted/range.hpp\"\n", include), testing::SizeIs(1));
    EXPECT_TRUE(compiles("#include \"rampart/planted/interval.hpp\"\n"));
    EXPECT_TRUE(compiles("#include \"rampart/planted/range.hpp\"\n"));
    EXPECT_FALSE(compiles(together));
}

}  // namespace
}  // namespace rampart::architecture
