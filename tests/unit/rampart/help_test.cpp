#include "frame/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

namespace rampart::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Wrapped, BreaksAtWordsWithinTheWidth) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "words ";
    std::istringstream lines(wrapped(text, 4));
    size_t words = 0;
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), kHelpWidth);
        EXPECT_TRUE(line.starts_with("    words"));
        words += (line.size() - 4 + 1) / 6;
    }
    EXPECT_EQ(words, 60u);
}

TEST(Wrapped, KeepsBreaksAndCountsCharacters) {
    EXPECT_EQ(wrapped("one\ntwo", 2), "  one\n  two\n");
    std::string wide;
    for (size_t i = 0; i < kHelpWidth / 2; ++i) wide += "δ ";
    EXPECT_EQ(wrapped(wide, 0).find('\n'), wrapped(wide, 0).size() - 1);
}

TEST(WrappedCommand, BreaksBetweenWordsSoThatItCanBeCopied) {
    EXPECT_EQ(wrapped_command("rampart serve --config a.toml"),
              "  rampart serve --config a.toml\n");
    const std::string quoted = "'a reason of several words that stands in quotes'";
    const auto out = wrapped_command(
        "rampart erase --person p-4711 --config rampartd.toml "
        "--dry-run --reason " +
        quoted);
    EXPECT_THAT(out, HasSubstr(" \\\n    " + quoted + "\n"));
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), kHelpWidth);
}

TEST(HelpText, ShowsGroupsChoicesRangesAndDefaults) {
    CLI::App app{"What it does.", "tool"};
    std::string method = "fast", file;
    int rounds = 3;
    app.add_option("FILE", file, "the file")->required();
    app.add_option("--method", method, "how it is done")
        ->check(CLI::IsMember({"fast", "exact"}))
        ->capture_default_str()
        ->group("How");
    app.add_option("--rounds", rounds, "number of rounds")->check(CLI::Range(1, 9))->group("How");
    app.footer("Example:\n  tool x\n");
    const auto help = help_text(app);
    EXPECT_TRUE(help.starts_with("What it does.\n\nUsage:\n  tool [OPTIONS] FILE\n")) << help;
    EXPECT_THAT(help, HasSubstr("\nArguments:\n  FILE                        the file [required]"));
    EXPECT_THAT(help, HasSubstr("\nHow:\n"));
    EXPECT_THAT(help, HasSubstr("how it is done [one of fast, exact; default: fast]"));
    EXPECT_THAT(help, HasSubstr("number of rounds [1 to 9]"));
    EXPECT_THAT(help, HasSubstr("Example:\n  tool x\n"));
    EXPECT_THAT(help, HasSubstr("Exit codes: 0 done"));
}

TEST(HelpText, AnArgumentThatMayBeLeftOutStandsInBrackets) {
    CLI::App app{"x", "tool"};
    std::string word;
    app.add_option("WORD", word, "the word");
    EXPECT_THAT(help_text(app), HasSubstr("\n  tool [OPTIONS] [WORD]\n"));
}

TEST(HelpText, ALongNameHasItsTextBelow) {
    CLI::App app{"x", "tool"};
    std::string value;
    app.add_option("--a-name-that-is-far-too-long", value, "its text");
    EXPECT_THAT(help_text(app), HasSubstr("too-long TEXT\n" + std::string(30, ' ') + "its text"));
}

TEST(HelpText, OptionGroupsAreShownAndAreNoCommands) {
    CLI::App app{"x", "tool"};
    std::string value;
    app.add_option_group("Person")->add_option("--person", value, "the person's id");
    const auto help = help_text(app);
    EXPECT_THAT(help, HasSubstr("--person TEXT"));
    EXPECT_THAT(help, Not(HasSubstr("COMMAND")));
}

}  // namespace
}  // namespace rampart::cli
