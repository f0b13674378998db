#include <gtest/gtest.h>

#include "source_tree.hpp"
#include "support/places.hpp"

namespace rampart::architecture {
namespace {

constexpr size_t kMaxLines = 600;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether `call` stands in `code` as a word of its own ("rand(" not in "operand(").
bool mentions(const std::string& code, const std::string& call) {
    for (size_t at = code.find(call); at != std::string::npos; at = code.find(call, at + 1)) {
        const bool starts = at == 0 || !is_word(call.front()) || !is_word(code[at - 1]);
        const size_t end = at + call.size();
        const bool ends = end == code.size() || !is_word(call.back()) || !is_word(code[end]);
        if (starts && ends) return true;
    }
    return false;
}

struct Ban {
    std::string call, why;
    std::set<std::string> allowed_in;  // file, or folder ending in '/'
};

// Numbers, time and environment come in as parameters; libraries are quiet.
const std::vector<Ban> kBans{
    {"rand(", "seeds are parameters: base::Random", {}},
    {"srand(", "seeds are parameters: base::Random", {}},
    {"random_device", "seeds are parameters; secrets: base::random_bytes", {}},
    {"mt19937", "the standard's engines differ in their distributions: base::Random", {}},
    {"system_clock", "time is a parameter: base::Clock", {"libs/runtime/src/system_clock.cpp"}},
    {"std::time(", "time is a parameter: base::Clock", {}},
    {"time(nullptr)", "time is a parameter: base::Clock", {}},
    {"time(NULL)", "time is a parameter: base::Clock", {}},
    {"gettimeofday(", "time is a parameter: base::Clock", {}},
    {"clock_gettime(", "time is a parameter: base::Clock", {"libs/runtime/src/system_clock.cpp"}},
    {"printf(", "libraries do not print: base::Logger", {}},
    {"fprintf(", "libraries do not print: base::Logger", {"libs/base/src/error.cpp"}},
    {"std::cout", "libraries do not print: base::Logger", {}},
    {"std::cerr", "libraries do not print: base::Logger", {}},
    {"sleep(", "wait for what happens, not for time to pass", {}},
    {"usleep(", "wait for what happens, not for time to pass", {}},
    {"sleep_for", "wait for what happens, not for time to pass", {}},
    {"sleep_until", "wait for what happens, not for time to pass", {}},
    {"getenv(", "configuration comes from files, read once", {}},
    {"std::regex", "slow, and its recursion can be exhausted by input", {}},
};

TEST(HouseRules, LibrariesDoNotCallWhatIsBanned) {
    const auto files = source_files("libs");
    ASSERT_GT(files.size(), 50u);
    for (const auto& file : files) {
        const auto code = code_only(read_source(file));
        for (const auto& ban : kBans) {
            if (ban.allowed_in.contains(file.string())) continue;
            EXPECT_FALSE(mentions(code, ban.call)) << file << ": " << ban.call << ": " << ban.why;
        }
    }
}

TEST(HouseRules, EveryExceptionFromABanIsStillNeeded) {
    for (const auto& ban : kBans) {
        for (const auto& file : ban.allowed_in) {
            EXPECT_TRUE(mentions(code_only(read_source(file)), ban.call))
                << file << " does not use " << ban.call << " any more: strike it from the list";
        }
    }
}

TEST(HouseRules, NoCoroutines) {
    for (const char* folder : {"libs", "services", "tools", "tests"}) {
        for (const auto& file : source_files(folder)) {
            const auto code = code_only(read_source(file));
            for (const char* word : {"co_await", "co_return", "co_yield"}) {
                EXPECT_FALSE(mentions(code, word)) << file << ": g++ 12 miscompiles coroutines";
            }
        }
    }
}

TEST(HouseRules, TheScannerSeesCodeAndNothingElse) {
    EXPECT_EQ(code_only("a // rand(\nb"), "a  \nb");
    EXPECT_EQ(code_only("a /* rand(\n */ b"), "a \n  b");
    EXPECT_EQ(code_only(R"x(a "rand(\"" b)x"), "a   b");
    EXPECT_EQ(code_only("a R\"(\"rand(\")\" b"), "a   b");
    EXPECT_EQ(code_only("1'000 + '\"' + b"), "1'000 +   + b");
    EXPECT_TRUE(mentions("x = rand();", "rand("));
    EXPECT_TRUE(mentions("std::rand()", "rand("));
    EXPECT_FALSE(mentions("operand(x)", "rand("));
    EXPECT_FALSE(mentions("snprintf(x)", "printf("));
    EXPECT_FALSE(mentions("my_system_clock2", "system_clock"));
}

TEST(HouseRules, NoFileIsTooLongToRead) {
    for (const char* folder : {"libs", "services", "tools", "tests", "schemas"}) {
        for (const auto& file : source_files(folder, {".hpp", ".cpp", ".proto", ".cmake", ".py"})) {
            EXPECT_LE(lines_of(read_source(file)).size(), kMaxLines) << file;
        }
    }
}

TEST(HouseRules, ScriptsFetchByNameAndHoldNoAddressOfARepository) {
    std::vector<fs::path> scripts;
    for (const char* folder : {"ops", "tools", "tests", ".ci"}) {
        const auto found = source_files(folder, {"", ".py", ".cmake", ".txt"});
        scripts.insert(scripts.end(), found.begin(), found.end());
    }
    ASSERT_GT(scripts.size(), 20u);
    for (const auto& script : scripts) {
        const auto text = read_source(script);
        for (size_t at = text.find("://"); at != std::string::npos; at = text.find("://", at + 1)) {
            const auto host = text.substr(at + 3, 12);
            EXPECT_TRUE(host.starts_with("127.0.0.1") || host.starts_with("localhost"))
                << script << " holds the address " << host
                << "…: package clients know where packages come from";
        }
    }
}

TEST(HouseRules, EveryPublicHeaderHasAUnitTestOfItsName) {
    for (const auto& [library, deps] : declared_dependencies()) {
        const fs::path include = fs::path("libs") / library / "include" / "rampart" / library;
        for (const auto& header : source_files(include, {".hpp"})) {
            // the lists of reasons are tested together: reasons_test.cpp
            if (header.filename() == "reasons.hpp") continue;
            // a folder becomes a part of the name: a/b.hpp -> a_b_test.cpp
            std::string name = fs::relative(header, include).replace_extension().string();
            std::replace(name.begin(), name.end(), '/', '_');
            const auto test = fs::path("tests/unit") / library / (name + "_test.cpp");
            EXPECT_TRUE(fs::exists(fs::path(test_support::source_dir()) / test))
                << header << " wants " << test;
        }
    }
}

// A reader finds first what the file is for. That headers compile alone is a matter of the build.
TEST(HouseRules, ASourceFileIncludesItsHeaderFirst) {
    size_t pairs = 0;
    for (const auto& [library, deps] : declared_dependencies()) {
        const fs::path source = fs::path("libs") / library / "src";
        const fs::path include = fs::path("libs") / library / "include" / "rampart" / library;
        for (const auto& file : source_files(source, {".cpp"})) {
            const auto name = fs::relative(file, source).replace_extension(".hpp");
            if (!fs::exists(fs::path(test_support::source_dir()) / include / name)) continue;
            ++pairs;
            const auto first = "#include \"rampart/" + library + "/" + name.string() + "\"\n";
            EXPECT_TRUE(read_source(file).starts_with(first))
                << file << " does not begin with " << first;
        }
    }
    EXPECT_GT(pairs, 100u);
}

TEST(HouseRules, PublicHeadersShowNoThirdParty) {
    for (const auto& [library, deps] : declared_dependencies()) {
        const fs::path include = fs::path("libs") / library / "include";
        for (const auto& header : source_files(include, {".hpp"})) {
            const auto text = read_source(header);
            EXPECT_TRUE(text.starts_with("#pragma once\n")) << header;
            for (const auto& angle : includes_of(text, false)) {
                const bool standard = angle.find_first_of("/.") == std::string::npos;
                const bool ours = angle.starts_with("fmt/") || angle == "tl/expected.hpp";
                EXPECT_TRUE(standard || ours) << header << " includes <" << angle << ">";
            }
            for (const auto& quoted : includes_of(text, true)) {
                EXPECT_TRUE(quoted.starts_with("rampart/") && !quoted.ends_with(".pb.h"))
                    << header << " includes \"" << quoted << "\"";
            }
        }
    }
}

}  // namespace
}  // namespace rampart::architecture
