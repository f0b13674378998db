#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exceptions.hpp"
#include "frame/error_table.hpp"
#include "frame/metric_table.hpp"
#include "source_tree.hpp"

/// Each room lists the reasons of its errors in one place: none of their words stands elsewhere in
/// code, and the lists say what they have to.
namespace rampart::architecture {
namespace {

using base::ReasonInfo;
using testing::ElementsAre;
using testing::IsEmpty;

// The list may only shrink. Lower this with it.
constexpr size_t kTwoMeanings = 13;

/// The code without comments, and without white space outside of literals.
std::string packed(const std::string& text) {
    std::string code;
    for (size_t i = 0; i < text.size();) {
        const size_t end = skip_literal_or_comment(text, i);
        if (end == i) {
            if (!std::isspace(static_cast<unsigned char>(text[i]))) code += text[i];
            ++i;
            continue;
        }
        if (text[i] != '/') code += text.substr(i, end - i);
        i = end;
    }
    return code;
}

/// What in `text` compares the reason of an error with a literal, or makes an error of one.
std::vector<std::string> literal_reasons(const std::string& text) {
    const auto code = packed(text);
    std::vector<std::string> found;
    const auto look_for = [&](const std::string& part) {
        for (size_t at = code.find(part); at != std::string::npos; at = code.find(part, at + 1))
            found.push_back(code.substr(at, part.size() + 12));
    };
    for (const char* part : {"reason==\"", "reason!=\"", "reason.starts_with(\"", "make_error(\"",
                             "make_error(ErrorCode", "make_error(base::ErrorCode"})
        look_for(part);
    for (const char* maker :
         {"invalid_argument", "not_found", "already_exists", "failed_precondition", "out_of_range",
          "resource_exhausted", "permission_denied", "unavailable", "data_loss", "internal_error"})
        look_for(std::string(maker) + "(\"");
    // an aggregate: Error{code, "word", …}
    for (size_t at = code.find("Error{"); at != std::string::npos;
         at = code.find("Error{", at + 1)) {
        const size_t comma = code.find_first_of(",}", at);
        if (comma != std::string::npos && code.compare(comma, 2, ",\"") == 0)
            found.push_back(code.substr(at, comma + 12 - at));
    }
    return found;
}

TEST(Reasons, NoBranchAndNoMakerHasTheWordAsALiteral) {
    for (const char* folder : {"libs", "services", "tools"})
        for (const auto& file : source_files(folder))
            EXPECT_THAT(literal_reasons(read_source(file)), IsEmpty())
                << file << ": use an enumerator of the room's reasons.hpp";
}

TEST(Reasons, PlantedLiteralsAreFound) {
    EXPECT_EQ(literal_reasons("if (error.reason == \"in_use\") return;").size(), 1u);
    EXPECT_EQ(literal_reasons("if (e.error().reason\n    != \"in_use\") return;").size(), 1u);
    EXPECT_EQ(literal_reasons("return base::make_error(\n \"in_use\", \"\");").size(), 1u);
    EXPECT_EQ(literal_reasons("return base::not_found(\"in_use\", \"\");").size(), 1u);
    EXPECT_EQ(literal_reasons("return base::Error{ErrorCode::kInternal, \"x\", \"\"};").size(), 1u);
    EXPECT_THAT(literal_reasons("// reason == \"in_use\"\nif (error.is(Reason::kInUse)) return;\n"
                                "return make_error(Reason::kInUse, \"not found\");\n"
                                "return base::Error{code, first.reason, \"text\"};"),
                IsEmpty());
}

// --- what the lists say ------------------------------------------------------------

std::vector<ReasonInfo> product_reasons() {
    std::vector<ReasonInfo> reasons;
    for (const auto& entry : cli::error_table()) reasons.push_back(*entry.info);
    return reasons;
}

/// kUnknownColumn of unknown_column.
std::string enumerator_of(std::string_view word) {
    std::string name = "k";
    bool begins = true;
    for (const char c : word) {
        if (c != '_')
            name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        begins = c == '_';
    }
    return name;
}

/// One sentence for each entry whose enumerator is not its word's, or whose remedy is no sentence.
/// Where a room has a word with two codes, the enumerator of one goes on after the word's.
std::vector<std::string> faults_of_form(const std::vector<ReasonInfo>& reasons) {
    std::vector<std::string> faults;
    std::map<std::pair<std::string_view, std::string_view>, int> exact;
    for (const auto& r : reasons) {
        const auto name = std::string(r.room) + " " + std::string(r.word);
        const auto wanted = enumerator_of(r.word);
        exact[{r.room, r.word}] += r.enumerator == wanted ? 1 : 0;
        if (!r.enumerator.starts_with(wanted)) faults.push_back(name + ": not " + wanted);
        const bool sentence = r.remedy.size() >= 12 && r.remedy.back() == '.' &&
                              std::isupper(static_cast<unsigned char>(r.remedy.front())) &&
                              r.remedy.find('|') == std::string_view::npos;
        if (!sentence) faults.push_back(name + ": its remedy is no sentence");
    }
    for (const auto& [key, count] : exact)
        if (count != 1)
            faults.push_back(std::string(key.first) + " " + std::string(key.second) +
                             ": one enumerator has to be the word's");
    return faults;
}

TEST(Reasons, EnumeratorsAreTheWordsAndRemediesAreSentences) {
    const auto reasons = product_reasons();
    ASSERT_GT(reasons.size(), 500u);
    EXPECT_THAT(faults_of_form(reasons), IsEmpty());
}

using base::ErrorCode;

TEST(Reasons, PlantedFaultsOfFormAreFound) {
    const ReasonInfo good{"a", "kInUse", ErrorCode::kInternal, "in_use", "Wait until it is free."};
    auto other_code = good, other_name = good, no_remedy = good;
    other_code.enumerator = "kInUseByReader";
    other_name.enumerator = "kBusy";
    no_remedy.remedy = "";
    EXPECT_THAT(faults_of_form({good, other_code}), IsEmpty());
    EXPECT_THAT(faults_of_form({good, other_name}), ElementsAre("a in_use: not kInUse"));
    EXPECT_THAT(faults_of_form({no_remedy}), ElementsAre("a in_use: its remedy is no sentence"));
    EXPECT_THAT(faults_of_form({good, good}),
                ElementsAre("a in_use: one enumerator has to be the word's"));
}

/// Words with several remedies -> their rooms; and words that two lists have with one meaning and
/// code, which belong into one list.
Exceptions words_in_conflict(const std::vector<ReasonInfo>& reasons) {
    std::map<std::string, std::vector<ReasonInfo>> by_word;
    for (const auto& r : reasons) by_word[std::string(r.word)].push_back(r);
    Exceptions found;
    for (const auto& [word, entries] : by_word) {
        std::set<std::string_view> remedies;
        std::set<ErrorCode> codes;
        std::string rooms;
        for (const auto& r : entries) {
            remedies.insert(r.remedy);
            codes.insert(r.code);
            rooms += (rooms.empty() ? "" : ", ") + std::string(r.room);
        }
        if (remedies.size() > 1) {
            found[word] = "has several remedies, in " + rooms;
        } else if (codes.size() < entries.size()) {
            found[word] = "stands several times with one code, in " + rooms;
        }
    }
    return found;
}

TEST(Reasons, AWordHasOneRemedyAndOneList) {
    const auto found = words_in_conflict(product_reasons());
    const auto list = read_exceptions("two_meanings.txt");
    print_if_asked("two_meanings.txt", found, list, false);
    EXPECT_THAT(differences(found, list, false), IsEmpty());
    EXPECT_LE(list.size(), kTwoMeanings) << "the list may only shrink";
}

TEST(Reasons, APlantedConflictIsFound) {
    const ReasonInfo one{"a", "kInUse", ErrorCode::kInternal, "in_use", "Wait until it is free."};
    auto other_remedy = one, other_code = one, again = one;
    other_remedy.remedy = "Name another folder.";
    other_code.code = ErrorCode::kUnavailable;
    again.room = "b";
    EXPECT_THAT(words_in_conflict({one, other_code}), IsEmpty());
    EXPECT_THAT(words_in_conflict({one, other_remedy}), ElementsAre(testing::Key("in_use")));
    EXPECT_THAT(words_in_conflict({one, again}), ElementsAre(testing::Key("in_use")));
}

// --- lists and code ------------------------------------------------------------

/// The room of a source file: its folder in libs, services or tools.
std::string room_of(const std::string& file) {
    const size_t from = file.find('/') + 1;
    return file.substr(from, file.find('/', from) - from);
}

/// The namespace of a room, which is that of its list.
std::string namespace_of(std::string_view room) {
    return room == "rampart" ? "cli" : std::string(room);
}

/// "namespace kEnumerator" of every enumerator that `texts` name other than in a comparison.
std::set<std::string> made_in(const std::map<std::string, std::string>& texts) {
    const auto is_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    const std::string type = "Reason::k";
    std::set<std::string> made;
    for (const auto& [file, text] : texts) {
        const auto code = packed(text);
        for (size_t at = code.find(type); at != std::string::npos; at = code.find(type, at + 1)) {
            size_t end = at + type.size();
            while (end < code.size() && is_name(code[end])) ++end;
            std::string owner = namespace_of(room_of(file));
            size_t begin = at;
            if (at >= 2 && code.compare(at - 2, 2, "::") == 0) {
                begin = at - 2;
                while (begin > 0 && is_name(code[begin - 1])) --begin;
                owner = code.substr(begin, at - 2 - begin);
            }
            if (begin >= 3 && code.compare(begin - 3, 3, "is(") == 0) continue;
            made.insert(owner + " " + code.substr(at + 8, end - at - 8));
        }
    }
    return made;
}

/// Reasons of which no code makes an error.
std::vector<std::string> dead(const std::vector<ReasonInfo>& reasons,
                              const std::map<std::string, std::string>& texts) {
    const auto made = made_in(texts);
    std::vector<std::string> found;
    for (const auto& r : reasons)
        if (!made.contains(namespace_of(r.room) + " " + std::string(r.enumerator)))
            found.push_back(std::string(r.room) + " " + std::string(r.word));
    return found;
}

TEST(Reasons, EveryReasonIsMadeSomewhere) {
    std::map<std::string, std::string> texts;
    for (const char* folder : {"libs", "services", "tools"})
        for (const auto& file : source_files(folder))
            if (file.filename() != "reasons.hpp") texts[file.string()] = read_source(file);
    EXPECT_THAT(dead(product_reasons(), texts), IsEmpty()) << "remove these from their lists";
}

TEST(Reasons, APlantedReasonThatNoCodeMakesIsFound) {
    const ReasonInfo used{"a", "kUsed", ErrorCode::kInternal, "used", "Wait until it is free."};
    auto compared = used, by_others = used;
    compared.enumerator = "kCompared", compared.word = "compared";
    by_others.enumerator = "kByOthers", by_others.word = "by_others";
    const std::map<std::string, std::string> texts{
        {"libs/a/src/a.cpp",
         "make_error(Reason::kUsed, x); e.is(Reason::kCompared); // Reason::kNo"},
        {"services/b/b.cpp", "make_error(a::Reason::kByOthers, x); f(b::Reason::kCompared);"}};
    EXPECT_THAT(dead({used, compared, by_others}, texts), ElementsAre("a compared"));
}

TEST(Reasons, EveryListIsInTheTable) {
    std::set<std::string> rooms;
    for (const auto& r : product_reasons()) rooms.insert(std::string(r.room));
    size_t lists = 0;
    for (const char* folder : {"libs", "services", "tools"}) {
        for (const auto& file : source_files(folder)) {
            const auto room = room_of(file.string());
            if (file.filename() != "reasons.hpp" || room == "peers") continue;
            ++lists;
            EXPECT_TRUE(rooms.contains(room)) << file << " is not in error_table.cpp";
            EXPECT_NE(read_source(file).find("RAMPART_REASONS(\"" + room + "\""), std::string::npos)
                << file << " does not name its room";
        }
    }
    EXPECT_EQ(lists, rooms.size());
}

TEST(Reasons, ThePageIsTheTable) {
    EXPECT_EQ(read_source("schemas/errors.md"), cli::error_page())
        << "rampart errors > schemas/errors.md";
}

TEST(Metrics, ThePageIsTheTable) {
    EXPECT_EQ(read_source("schemas/metrics.md"), cli::metric_page())
        << "rampart metrics > schemas/metrics.md";
}

}  // namespace
}  // namespace rampart::architecture
