#include <map>
#include <set>

#include "command_line.hpp"

/// The help of every command and family, as a user reads it.
namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr size_t kMaxWidth = 100;

/// A heading of the help, and its entries: what stands in the left column, and the text beside or
/// below it.
struct Section {
    std::string title;
    std::vector<std::pair<std::string, std::string>> entries;
};

size_t width_of(const std::string& line) {
    return static_cast<size_t>(
        std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string trimmed(const std::string& text) {
    const auto from = text.find_first_not_of(' ');
    return from == std::string::npos ? "" : text.substr(from);
}

/// Splits a line of two columns at the first two spaces behind the name.
std::pair<std::string, std::string> columns_of(const std::string& line) {
    const auto text = trimmed(line);
    const auto gap = text.find("  ");
    if (gap == std::string::npos) return {text, ""};
    return {text.substr(0, gap), trimmed(text.substr(gap))};
}

std::vector<Section> sections_of(const std::string& help) {
    std::vector<Section> sections;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
        if (!line.empty() && line[0] != ' ') {
            if (line.back() == ':')
                sections.push_back({line.substr(0, line.size() - 1), {}});
            else
                sections.push_back({});  // running text
            continue;
        }
        if (line.empty() || sections.empty() || sections.back().title.empty()) continue;
        auto& entries = sections.back().entries;
        if (line.starts_with("  ") && line[2] != ' ') {
            entries.push_back(columns_of(line));
        } else if (!entries.empty()) {
            entries.back().second += (entries.back().second.empty() ? "" : " ") + trimmed(line);
        }
    }
    return sections;
}

/// What is no list of options or commands.
bool is_text(const Section& section) {
    return section.title.empty() || section.title == "Usage" || section.title == "Example";
}

class Help : public CommandLine {
  protected:
    /// The help of all commands, by what stands before --help.
    std::map<std::string, std::string> all() {
        std::map<std::string, std::string> out;
        collect("", out);
        return out;
    }

  private:
    void collect(const std::string& command, std::map<std::string, std::string>& out) {
        const auto ran = run(command + " --help");
        EXPECT_EQ(ran.exit_code, 0) << command;
        out[command] = ran.out;
        if (ran.out.find(" COMMAND") == std::string::npos) return;
        for (const auto& section : sections_of(ran.out)) {
            if (is_text(section)) continue;
            for (const auto& [name, text] : section.entries)
                if (name[0] != '-') collect(command + (command.empty() ? "" : " ") + name, out);
        }
    }
};

TEST_F(Help, EveryCommandFamilyAndOptionHasATextWithinTheWidth) {
    const auto all_help = all();
    EXPECT_GE(all_help.size(), 45u);
    size_t options = 0;
    for (const auto& [command, help] : all_help) {
        EXPECT_GE(help.find("\n\nUsage:\n"), 10u) << command << ": no description";
        EXPECT_THAT(help, HasSubstr("\nExit codes: 0 done; 1 the answer is no; 2 misuse"))
            << command;
        std::istringstream lines(help);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(width_of(line), kMaxWidth) << command << ": " << line;
        }
        for (const auto& section : sections_of(help)) {
            if (is_text(section)) continue;
            for (const auto& [name, text] : section.entries) {
                const auto words = text.substr(0, text.find('['));
                EXPECT_GE(words.size(), 6u) << command << " " << name << ": '" << text << "'";
                ++options;
            }
        }
    }
    EXPECT_GE(options, 300u);
}

TEST_F(Help, EveryCommandGivesAnExampleOfItself) {
    for (const auto& [command, help] : all()) {
        if (help.find(" COMMAND") != std::string::npos) continue;
        EXPECT_THAT(help, HasSubstr(fmt::format("Example:\n  rampart {}", command)));
    }
}

/// Returns under which heading of a help an option stands.
std::string group_of(const std::string& help, const std::string& option) {
    for (const auto& section : sections_of(help))
        for (const auto& [name, text] : section.entries)
            if (name.starts_with(option + " ")) return section.title;
    return "none";
}

TEST_F(Help, OfTrainShowsTheOptionsOfOneLearnerOrWhatAllHave) {
    const auto all_learners = run("train --help").out;
    for (const auto& [option, group] : std::map<std::string, std::string>{
             {"--data", "Input and output"},
             {"--learner", "Learning"},
             {"--recipe", "Learning"},
             {"--leaves", "Options of every learner"},
             {"--ramp-tolerance", "Ramp (--postprocess ramp)"},
             {"--metric-l2", "Fair metric (budro, --baseline project)"},
             {"--proxy", "none"},
             {"--epsilon", "none"}})
        EXPECT_EQ(group_of(all_learners, option), group) << option;
    for (const char* name :
         {"gbdt", "fairgbm", "eg", "gs", "rs", "budro", "fair-regression", "regression-trees"}) {
        EXPECT_THAT(all_learners, HasSubstr(fmt::format("\n{}: ", name)));
        const auto help = run(fmt::format("train --learner {} --help", name)).out;
        const auto own = fmt::format("Options of {}", name);
        EXPECT_EQ(group_of(help, "--leaves"), own);
        for (const auto& [option, owners] : std::map<std::string, std::set<std::string>>{
                 {"--proxy", {"fairgbm", "budro"}},
                 {"--reduction-fits", {"eg", "gs", "rs"}},
                 {"--epsilon", {"budro"}},
                 {"--zeta", {"fair-regression"}},
                 {"--loss", {"fair-regression", "regression-trees"}},
                 {"--early-stopping", {"gbdt", "fairgbm", "budro", "regression-trees"}}})
            EXPECT_EQ(group_of(help, option), owners.contains(name) ? own : "none") << name;
    }
    // where a recipe that leaves an option out has another default
    EXPECT_THAT(all_learners, HasSubstr("default: 31; of a recipe: 15]"));
    for (const auto& section : sections_of(all_learners)) EXPECT_NE(section.title, "Options");
}

TEST_F(Help, TheScannerFindsPlantedFaults) {
    const auto sections = sections_of(
        "What\n\nUsage:\n  rampart x\n\nTrees:\n  --l1 FLOAT\n  --l2 FLOAT    penalty\n"
        "  --a-long-name FLOAT\n                text below\n                and more\n");
    ASSERT_EQ(sections.size(), 3u);
    const auto& entries = sections[2].entries;
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[0], std::pair(std::string("--l1 FLOAT"), std::string()));
    EXPECT_EQ(entries[1].second, "penalty");
    EXPECT_EQ(entries[2].second, "text below and more");
}

TEST_F(Help, OneWordForEachNotion) {
    for (const auto& [command, help] : all()) {
        for (const char* word : {" dp", "'dp", " eopp", " pp,", " sp ", " bgl", "dangling"})
            EXPECT_THAT(help, Not(HasSubstr(word))) << command;
    }
}

}  // namespace
}  // namespace rampart::cli_tests
