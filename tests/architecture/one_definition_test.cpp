#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "source_tree.hpp"

/// Two types of one name in one namespace make a program undefined wherever both are linked: the
/// linker keeps one of each pair of inline functions, and says nothing.
namespace rampart::architecture {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::string trimmed(const std::string& text) {
    const size_t from = text.find_first_not_of(" \n\t");
    if (from == std::string::npos) return {};
    return text.substr(from, text.find_last_not_of(" \n\t") - from + 1);
}

/// Removes `word` from the front if it stands there as a word of its own.
bool take_word(std::string& text, const std::string& word) {
    const bool there =
        text.starts_with(word) && (text.size() == word.size() || !is_word(text[word.size()]));
    if (there) text = trimmed(text.substr(word.size()));
    return there;
}

/// Removes what is in brackets at the front, `[[nodiscard]]` or `<class T>`.
void take_brackets(std::string& text, char open, char close) {
    if (text.empty() || text.front() != open) return;
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += (text[i] == open) - (text[i] == close);
        if (depth > 0) continue;
        text = trimmed(text.substr(i + 1));
        return;
    }
}

/// What a brace opens.
struct Scope {
    enum { kNamespace, kUnnamed, kType, kOther } kind = kOther;
    std::string name;
};

/// `head`: what stands between the brace and the statement before it.
Scope scope_of(std::string head) {
    head = trimmed(head);
    if (head == "extern") return {Scope::kNamespace, ""};
    take_word(head, "inline");
    if (take_word(head, "namespace"))
        return head.empty() ? Scope{Scope::kUnnamed, ""} : Scope{Scope::kNamespace, head};
    while (take_word(head, "template")) take_brackets(head, '<', '>');
    const bool an_enum = take_word(head, "enum");
    const bool a_class =
        take_word(head, "struct") || take_word(head, "class") || take_word(head, "union");
    if (!an_enum && !a_class) return {};
    take_brackets(head, '[', ']');
    if (take_word(head, "alignas")) take_brackets(head, '(', ')');
    size_t end = 0;
    while (end < head.size() && (is_word(head[end]) || head.compare(end, 2, "::") == 0))
        end += is_word(head[end]) ? 1 : 2;
    const std::string name = head.substr(0, end);
    head = trimmed(head.substr(end));
    take_word(head, "final");
    const bool defined =
        head.empty() || head.front() == ':';  // else a specialisation or a function
    return defined && !name.empty() ? Scope{Scope::kType, name} : Scope{};
}

/// Types that a file defines at namespace scope, "rampart::stats::Interval". Those in unnamed
/// namespaces, in other types and in functions cannot clash with those of another file.
std::vector<std::string> types_defined(const std::string& text) {
    std::string code;
    for (const auto& line : lines_of(code_only(text)))
        if (!trimmed(line).starts_with("#")) code += line + "\n";
    std::vector<std::string> types;
    std::vector<Scope> open;
    std::string head;
    for (const char c : code) {
        if (c == '{') {
            const Scope scope = scope_of(head);
            std::string path;
            for (const auto& outer : open)
                if (!outer.name.empty()) path += outer.name + "::";
            const bool seen = std::all_of(open.begin(), open.end(), [](const Scope& outer) {
                return outer.kind == Scope::kNamespace;
            });
            if (seen && scope.kind == Scope::kType) types.push_back(path + scope.name);
            open.push_back(scope);
        }
        if (c == '}' && !open.empty()) open.pop_back();
        if (c == '{' || c == '}' || c == ';') {
            head.clear();
        } else {
            head += c;
        }
    }
    return types;
}

TEST(OneDefinition, ATypeHasOneDefinitionPerNamespace) {
    std::map<std::string, std::set<std::string>> files_of;
    for (const char* folder : {"libs", "services", "tools"})
        for (const auto& file : source_files(folder))
            for (const auto& type : types_defined(read_source(file)))
                files_of[type].insert(file.string());
    ASSERT_GT(files_of.size(), 500u);
    for (const auto& [type, files] : files_of)
        EXPECT_EQ(files.size(), 1u) << type << " is defined in " << testing::PrintToString(files)
                                    << ": give one of them another name or namespace";
}

TEST(OneDefinition, TheScannerSeesTypesAndNothingElse) {
    const auto types = types_defined(R"x(
        #define OPEN {
        namespace a::b {
        struct Plain { int x = 0; struct Inner {}; };
        struct Declared;
        class [[nodiscard]] Marked : public Plain {};
        template <class T, class U = std::vector<T>> class Of final {};
        template <> struct Of<int> { };
        enum class Word : uint8_t { kOne };
        struct Plain make(struct Plain p) { struct Local {}; return p; }
        namespace { struct Hidden {}; }
        }
        extern "C" { union Foreign { int i; }; }
        // struct Comment {};
    )x");
    EXPECT_THAT(types, testing::ElementsAre("a::b::Plain", "a::b::Marked", "a::b::Of", "a::b::Word",
                                            "Foreign"));
}

}  // namespace
}  // namespace rampart::architecture
