#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "exceptions.hpp"
#include "source_tree.hpp"

/// A policy's provenance is text for people. What a program reads to act on it is a field of the
/// policy's state (ops/adr/0015), where it has a type and is checked when the file is loaded.
namespace rampart::architecture {
namespace {

/// Whether `text` gets the provenance of a policy, or provenance and state as text.
bool reads_provenance(const std::string& text) {
    static const std::regex call(R"(\b(provenance|printed_facts)\s*\(\s*\))");
    return std::regex_search(code_only(text), call);
}

TEST(Provenance, IsReadByWhatPrintsItOnly) {
    Exceptions found;
    for (const char* folder : {"libs", "services", "tools"})
        for (const auto& file : source_files(folder))
            if (reads_provenance(read_source(file))) found[file.string()] = "reads the provenance";
    const auto list = read_exceptions("provenance_readers.txt");
    print_if_asked("provenance_readers.txt", found, list, false);
    EXPECT_THAT(differences(found, list, false), testing::IsEmpty())
        << "what a program acts on is a field of model::PolicyState";
    for (const auto& [file, reason] : list)
        EXPECT_GT(reason.size(), 10u) << file << " has no reason";
}

TEST(Provenance, APlantedReaderIsFound) {
    EXPECT_TRUE(reads_provenance("auto it = policy.provenance().find(\"loss\");"));
    EXPECT_TRUE(reads_provenance("for (auto& [k, v] : loaded->policy.provenance ( )) act(k);"));
    EXPECT_TRUE(reads_provenance("if (policy.printed_facts().contains(\"loss\")) act();"));
    EXPECT_FALSE(reads_provenance("// policy.provenance() is text\nact(policy.state().loss);"));
    EXPECT_FALSE(reads_provenance("auto text = provenance_of(options);"));
    EXPECT_FALSE(reads_provenance("print(\"policy.provenance()\");"));
    const auto faults = differences({{"libs/decision/src/decider.cpp", "reads the provenance"}},
                                    read_exceptions("provenance_readers.txt"), false);
    EXPECT_THAT(faults, testing::Contains("libs/decision/src/decider.cpp: reads the provenance"));
}

}  // namespace
}  // namespace rampart::architecture
