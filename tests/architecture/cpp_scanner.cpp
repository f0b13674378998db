#include "cpp_scanner.hpp"

#include "source_tree.hpp"

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

/// The place after the bracket that closes the one at `from`; the end where none does.
size_t after_brackets(const std::string& text, size_t from, char open, char close) {
    int depth = 0;
    for (size_t i = from; i < text.size(); ++i) {
        if (close == '>' && text[i] == '>' && i > 0 && text[i - 1] == '-') continue;
        depth += (text[i] == open) - (text[i] == close);
        if (depth == 0) return i + 1;
    }
    return text.size();
}

/// Removes what is in brackets at the front, `[[nodiscard]]` or `<class T>`, and returns it.
std::string take_brackets(std::string& text, char open, char close) {
    if (text.empty() || text.front() != open) return {};
    const size_t end = after_brackets(text, 0, open, close);
    const std::string taken = text.substr(0, end);
    text = trimmed(text.substr(end));
    return taken;
}

/// Removes what may stand before any definition: templates, attributes, specifiers.
struct Prefix {
    bool specialisation = false, is_static = false, is_inline = false;
};
Prefix take_prefix(std::string& head) {
    Prefix prefix;
    for (bool more = true; more;) {
        more = false;
        while (take_word(head, "template")) {
            more = true;
            prefix.specialisation |= take_brackets(head, '<', '>') == "<>";
        }
        if (head.starts_with("[[")) {
            take_brackets(head, '[', ']');
            more = true;
        }
        if (take_word(head, "__attribute__")) {
            take_brackets(head, '(', ')');
            more = true;
        }
        if (take_word(head, "static")) more = prefix.is_static = true;
        if (take_word(head, "inline")) more = prefix.is_inline = true;
        for (const char* word : {"constexpr", "consteval", "explicit", "virtual", "friend"})
            more |= take_word(head, word);
    }
    return prefix;
}

/// The end of a name "a::b", "~c", "Of<int>::d" at the front of `text`.
size_t end_of_name(const std::string& text) {
    size_t end = 0;
    while (end < text.size() && (is_word(text[end]) || text.compare(end, 2, "::") == 0))
        end += is_word(text[end]) ? 1 : 2;
    return end;
}

struct Head {
    enum Kind { kNamespace, kUnnamed, kType, kFunction, kVariable, kOther } kind = kOther;
    std::string name, parameters;
    Prefix prefix;
};

std::optional<Head> type_of(std::string head, const Prefix& prefix) {
    const bool an_enum = take_word(head, "enum");
    const bool a_class =
        take_word(head, "struct") || take_word(head, "class") || take_word(head, "union");
    if (!an_enum && !a_class) return std::nullopt;
    while (head.starts_with("[")) take_brackets(head, '[', ']');
    if (take_word(head, "alignas")) take_brackets(head, '(', ')');
    const size_t end = end_of_name(head);
    Head type{Head::kType, head.substr(0, end), {}, prefix};
    head = trimmed(head.substr(end));
    if (head.starts_with("<")) {
        type.prefix.specialisation = true;
        type.name += take_brackets(head, '<', '>');
    }
    take_word(head, "final");
    // else a function that returns such a type
    if (!head.empty() && (head.front() != ':' || head.starts_with("::"))) return std::nullopt;
    return type;
}

/// The first parenthesis outside of angle brackets; "operator()" is a name.
size_t open_parenthesis(const std::string& head) {
    const size_t named = head.find("operator");
    const bool an_operator = named != std::string::npos &&
                             (named == 0 || !is_word(head[named - 1])) && named + 8 < head.size() &&
                             !is_word(head[named + 8]);
    if (an_operator) {
        size_t at = named + 8;
        while (at < head.size() && head[at] == ' ') ++at;
        return head.find('(', head.compare(at, 1, "(") == 0 ? at + 1 : at);
    }
    for (size_t i = 0; i < head.size(); ++i) {
        if (head[i] == '<')
            i = after_brackets(head, i, '<', '>') - 1;
        else if (head[i] == '(')
            return i;
        else if (head[i] == '=')
            break;
    }
    return std::string::npos;
}

/// "const Table& table = {}, size_t n" as "const Table&,size_t": equal for what overload resolution
/// takes for the same.
std::string without_names(const std::string& parameters) {
    std::string types, one;
    int depth = 0;
    const auto finish = [&] {
        one = trimmed(one.substr(0, one.find(" = ")));
        size_t name = one.size();
        while (name > 0 && is_word(one[name - 1])) --name;
        const std::string before = trimmed(one.substr(0, name));
        static const std::set<std::string> kWords{"", "const", "unsigned", "struct", "typename"};
        const bool has_name = name < one.size() && !kWords.contains(before) &&
                              !before.ends_with("::") && !before.ends_with(" const");
        std::string type;
        for (const char c : has_name ? before : one)
            if (c != ' ' && c != '\n')
                type += c;
            else if (!type.empty() && is_word(type.back()))
                type += ' ';
        types += (types.empty() ? "" : ",") + trimmed(type);
        one.clear();
    };
    for (const char c : parameters) {
        depth += (c == '<' || c == '(' || c == '{' || c == '[');
        depth -= (c == '>' || c == ')' || c == '}' || c == ']');
        if (c == ',' && depth == 0)
            finish();
        else
            one += c == '\n' ? ' ' : c;
    }
    if (!trimmed(one).empty()) finish();
    return types;
}

std::optional<Head> function_of(const std::string& head, const Prefix& prefix) {
    const size_t open = open_parenthesis(head);
    if (open == std::string::npos || open == 0) return std::nullopt;
    std::string before = trimmed(head.substr(0, open));
    size_t from = before.rfind("operator");
    if (from == std::string::npos) from = before.size();
    const auto in_name = [&](size_t i) {
        return is_word(before[i]) || before[i] == ':' || before[i] == '~';
    };
    while (from > 0 && in_name(from - 1)) --from;
    Head function{Head::kFunction, before.substr(from), {}, prefix};
    if (function.name.empty()) return std::nullopt;
    const size_t close = after_brackets(head, open, '(', ')');
    const std::string rest = trimmed(head.substr(close));
    function.parameters = "(" + without_names(head.substr(open + 1, close - open - 2)) + ")";
    if (rest.starts_with("const")) function.parameters += "const";
    return function;
}

/// `head`: what stands between the brace, or the semicolon, and the statement before it.
Head head_of(std::string head, char end) {
    head = trimmed(head);
    if (end == '{') {
        if (head == "extern") return {Head::kNamespace, "", {}, {}};
        std::string space = head;
        take_word(space, "inline");
        if (take_word(space, "namespace"))
            return {space.empty() ? Head::kUnnamed : Head::kNamespace, space, {}, {}};
    }
    const Prefix prefix = take_prefix(head);
    if (end == '{') {
        if (const auto type = type_of(head, prefix)) return *type;
        if (const auto function = function_of(head, prefix)) return *function;
    }
    // only those that several files may define: `inline const int kX = 1;`
    if (!prefix.is_inline) return {};
    const std::string before = trimmed(head.substr(0, head.find('=')));
    size_t from = before.size();
    while (from > 0 && is_word(before[from - 1])) --from;
    return from < before.size() ? Head{Head::kVariable, before.substr(from), {}, prefix} : Head{};
}

/// Whether the brace after `head` opens the value of a member, `: member{value}`, not a body.
bool opens_member_value(const std::string& head) {
    const std::string text = trimmed(head);
    if (text.empty() || (!is_word(text.back()) && text.back() != '>')) return false;
    const size_t open = open_parenthesis(text);
    if (open == std::string::npos) return false;
    const std::string rest = text.substr(after_brackets(text, open, '(', ')'));
    for (size_t i = 0; i < rest.size(); ++i) {
        if (rest.compare(i, 2, "::") == 0)
            ++i;
        else if (rest[i] == ':')
            return true;
    }
    return false;
}

/// The code without preprocessor lines; line breaks stay.
std::string without_directives(const std::string& text) {
    std::string code;
    bool directive = false;
    for (const auto& line : lines_of(code_only(text))) {
        directive = directive || trimmed(line).starts_with("#");
        if (!directive) code += line;
        code += "\n";
        directive = directive && line.ends_with("\\");
    }
    return code;
}

class Scanner {
  public:
    explicit Scanner(std::string code) : code_(std::move(code)) {}

    Scan run() {
        for (; at_ < code_.size(); ++at_) step(code_[at_]);
        result_.balanced = open_.empty() && parentheses_ == 0;
        return std::move(result_);
    }

  private:
    struct Scope {
        Head head;
        std::optional<size_t> definition;
        bool keep_head = false;
        int parentheses = 0;
    };

    void step(char c) {
        line_ += c == '\n';
        if (c == '{') return open();
        if (c == '}') return close();
        if (in_body()) return;
        parentheses_ += (c == '(') - (c == ')');
        if (c == ';' && parentheses_ == 0) {
            add(head_of(head_, ';'));
            return clear();
        }
        if (std::isspace(static_cast<unsigned char>(c)) == 0 && trimmed(head_).empty())
            first_line_ = line_;
        head_ += c;
        // "public:" is no part of what follows
        if (c == ':' && !open_.empty() && open_.back().head.kind == Head::kType)
            for (const char* word : {"public:", "protected:", "private:"})
                if (trimmed(head_) == word) clear();
    }

    bool in_body() const {
        return !open_.empty() && open_.back().head.kind != Head::kNamespace &&
               open_.back().head.kind != Head::kUnnamed && open_.back().head.kind != Head::kType;
    }

    void open() {
        Scope scope;
        scope.parentheses = parentheses_;
        if (!in_body()) {
            scope.keep_head = parentheses_ > 0 || opens_member_value(head_);
            if (!scope.keep_head) {
                scope.head = head_of(head_, '{');
                result_.unnamed_namespace |= scope.head.kind == Head::kUnnamed;
                scope.definition = add(scope.head);
            }
        }
        const bool keep = scope.keep_head;
        open_.push_back(std::move(scope));
        parentheses_ = 0;
        if (!keep && !in_body()) clear();
    }

    void close() {
        if (open_.empty()) {
            result_.balanced = false;
            return;
        }
        const Scope scope = std::move(open_.back());
        open_.pop_back();
        parentheses_ = scope.parentheses;
        if (scope.definition) result_.definitions[*scope.definition].last_line = line_;
        if (scope.keep_head)
            head_ += "{}";
        else if (!in_body())
            clear();
    }

    std::optional<size_t> add(const Head& head) {
        if (head.kind != Head::kType && head.kind != Head::kFunction &&
            head.kind != Head::kVariable)
            return std::nullopt;
        Definition found;
        for (const auto& scope : open_) {
            if (!scope.head.name.empty()) found.name += scope.head.name + "::";
            found.internal |= scope.head.kind == Head::kUnnamed;
            found.in_type |= scope.head.kind == Head::kType;
            found.specialisation |= scope.head.prefix.specialisation;
        }
        if (head.name.empty()) return std::nullopt;
        found.name += head.name;
        found.kind = head.kind == Head::kType       ? Definition::kType
                     : head.kind == Head::kFunction ? Definition::kFunction
                                                    : Definition::kVariable;
        found.parameters = head.parameters;
        found.internal |= head.prefix.is_static && !found.in_type;
        found.specialisation |= head.prefix.specialisation;
        found.first_line = first_line_;
        found.last_line = line_;
        result_.definitions.push_back(std::move(found));
        return result_.definitions.size() - 1;
    }

    void clear() {
        head_.clear();
        first_line_ = line_;
    }

    std::string code_, head_;
    size_t at_ = 0, line_ = 1, first_line_ = 1;
    int parentheses_ = 0;
    std::vector<Scope> open_;
    Scan result_;
};

}  // namespace

Scan scan(const std::string& text) { return Scanner(without_directives(text)).run(); }

}  // namespace rampart::architecture
