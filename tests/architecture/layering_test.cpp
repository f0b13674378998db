#include <gtest/gtest.h>

#include "source_tree.hpp"
#include "support/places.hpp"

namespace rampart::architecture {
namespace {

// generated code, and who may know it
const std::map<std::string, std::set<std::string>> kGenerated{
    {"v1", {"wire", "model"}},
    {"protected", {"protected_attributes"}},
};

/// The second part of "rampart/<library>/…".
std::string library_in(const std::string& include) {
    const size_t from = std::string("rampart/").size();
    return include.substr(from, include.find('/', from) - from);
}

TEST(Layering, ALibraryIncludesOnlyWhatItDeclares) {
    const auto graph = declared_dependencies();
    ASSERT_GT(graph.size(), 15u);
    for (const auto& [library, deps] : graph) {
        for (const auto& file : source_files(fs::path("libs") / library)) {
            for (const auto& include : includes_of(read_source(file), true)) {
                if (!include.starts_with("rampart/")) {
                    EXPECT_FALSE(include.starts_with("services/") || include.starts_with("tools/"))
                        << file << " includes " << include << ": libraries do not know programs";
                    continue;
                }
                const auto used = library_in(include);
                const auto generated = kGenerated.find(used);
                const bool allowed = generated != kGenerated.end()
                                         ? generated->second.contains(library)
                                         : used == library || deps.contains(used);
                EXPECT_TRUE(allowed) << file << " includes " << include << ", but " << library
                                     << " does not declare " << used << " in libs/CMakeLists.txt";
            }
        }
    }
}

TEST(Layering, EveryFolderOfLibsIsADeclaredLibrary) {
    const auto graph = declared_dependencies();
    for (const auto& entry :
         fs::directory_iterator(fs::path(test_support::source_dir()) / "libs")) {
        if (!entry.is_directory()) continue;
        EXPECT_TRUE(graph.contains(entry.path().filename().string())) << entry.path();
    }
}

TEST(Layering, EveryLibrarySaysWhatItIs) {
    for (const auto& [library, deps] : declared_dependencies()) {
        EXPECT_FALSE(read_source(fs::path("libs") / library / "README.md").empty())
            << library << " has no README.md whose first line says what it is";
    }
}

TEST(Layering, OneLibraryKnowsEachForeignOne) {
    // first part of an include <part/…> -> where it may stand
    const std::map<std::string, std::set<std::string>> owners{
        {"rocksdb", {"libs/storage/src"}},
        {"boost/beast", {"libs/http/src"}},
        {"boost/asio", {"libs/http/src"}},
        {"openssl", {"libs/base/src", "libs/http/src"}},
        {"spdlog", {"libs/base/src"}},
        {"toml++", {"libs/config/src"}},
        {"librdkafka", {"libs/streaming_kafka/src"}},
    };
    for (const char* folder : {"libs", "services", "tools"}) {
        for (const auto& file : source_files(folder)) {
            if (file.string().starts_with("tools/peers/")) continue;  // the others, side by side
            for (const auto& include : includes_of(read_source(file), false)) {
                for (const auto& [foreign, places] : owners) {
                    if (!include.starts_with(foreign + "/")) continue;
                    EXPECT_TRUE(std::any_of(
                        places.begin(), places.end(),
                        [&](const auto& place) { return file.string().starts_with(place); }))
                        << file << " includes <" << include << ">";
                }
            }
        }
    }
}

/// Whether the product may not include this: what is there to compare it with.
bool is_reference(const std::string& include) {
    return include.starts_with("reference/") || include.starts_with("tests/");
}

TEST(Layering, TheProductKnowsNothingOfTheReferenceAlgorithms) {
    EXPECT_TRUE(is_reference(includes_of("#include \"reference/elf.hpp\"\n", true).at(0)));
    size_t peers = 0;
    for (const char* folder : {"libs", "services", "tools"}) {
        for (const auto& file : source_files(folder)) {
            for (const auto& include : includes_of(read_source(file), true)) {
                if (!is_reference(include)) continue;
                const bool peer = file.string().starts_with("tools/peers/");
                peers += peer;
                EXPECT_TRUE(peer) << file << " includes " << include;
            }
        }
    }
    EXPECT_GT(peers, 0u) << "nothing was looked at";
    const auto archives = read_text(written_by_cmake() / "product_archives.txt");
    EXPECT_NE(archives.find("librampart_candidate_selection.a"), std::string::npos);
    EXPECT_EQ(archives.find("librampart_reference.a"), std::string::npos)
        << "a program links rampart::reference";
}

TEST(Layering, BeastStaysInAtMostThreeFiles) {
    int files = 0;
    for (const auto& file : source_files("libs/http")) {
        files += read_source(file).find("#include <boost/beast/") != std::string::npos;
    }
    EXPECT_GE(files, 1);
    EXPECT_LE(files, 3);  // each costs up to a minute to compile
}

}  // namespace
}  // namespace rampart::architecture
