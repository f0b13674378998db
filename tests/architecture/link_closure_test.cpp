#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

#include "source_tree.hpp"
#include "support/places.hpp"

/// The group-blind decision service cannot read a protected attribute: it does not link the code.
namespace rampart::architecture {
namespace {

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
    std::string text;
    char chunk[65536];
    for (size_t n; (n = std::fread(chunk, 1, sizeof chunk, pipe.get())) > 0;) text.append(chunk, n);
    return text;
}

TEST(LinkClosure, TheGroupBlindServiceLinksNoTargetOfProtectedAttributes) {
    const auto targets = lines_of(read_text(written_by_cmake() / "decision_service_links.txt"));
    const auto has = [&](const std::string& name) {
        return std::find(targets.begin(), targets.end(), name) != targets.end();
    };
    // that the walk through the graph went all the way
    ASSERT_TRUE(has("rampart_service_decision_service"));
    ASSERT_TRUE(has("rampart_base"));
    ASSERT_TRUE(has("rampart_schemas"));
    for (const auto& target : targets) {
        EXPECT_EQ(target.find("protected"), std::string::npos) << target;
        EXPECT_NE(target, "rampart_training_set");
    }
}

TEST(LinkClosure, TheGroupBlindProgramHoldsNoSymbolOfProtectedAttributes) {
    const auto symbols = output_of("nm -C '" + test_support::bin_dir() + "/decision_service'");
    ASSERT_NE(symbols.find("rampart::serving::DecisionService::decide"), std::string::npos)
        << "nm shows nothing of the program; it has to be built with symbols";
    for (const auto& line : lines_of(symbols)) {
        EXPECT_EQ(line.find("protected_attributes"), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace rampart::architecture
