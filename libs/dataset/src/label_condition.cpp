#include "rampart/dataset/label_condition.hpp"

#include <algorithm>
#include <array>

#include "rampart/dataset/text.hpp"
#include "word_scanner.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
using Relation = LabelCondition::Relation;

struct Known {
    std::string_view word;
    Relation relation;
    bool order;
};
// longer ones first
constexpr std::array<Known, 7> kKnown{{{">=", Relation::kAtLeast, true},
                                       {"<=", Relation::kAtMost, true},
                                       {"==", Relation::kEqual, false},
                                       {"!=", Relation::kNotEqual, false},
                                       {">", Relation::kGreater, true},
                                       {"<", Relation::kLess, true},
                                       {"in", Relation::kOneOf, false}}};
constexpr std::string_view kListSpecials = ",[]";

/// Finds the first relation that stands between blanks, from `from` on.
std::pair<size_t, const Known*> find_relation(std::string_view text, size_t from) {
    for (size_t at = text.find(' ', from); at != std::string_view::npos;
         at = text.find(' ', at + 1))
        for (const auto& known : kKnown) {
            const auto rest = text.substr(at + 1);
            if (!rest.starts_with(known.word)) continue;
            if (rest.size() == known.word.size()) return {at, &known};
            // "in" is also a word of a column's name: only a list can follow it
            const bool blank = rest[known.word.size()] == ' ';
            const size_t next = rest.find_first_not_of(' ', known.word.size());
            const bool list = next != std::string_view::npos && rest[next] == '[';
            if (blank && (known.relation != Relation::kOneOf || list)) return {at, &known};
        }
    return {text.size(), nullptr};
}

Result<std::vector<std::string>> read_list(WordScanner& scan) {
    if (!scan.take('[')) return scan.wrong("'[' is wanted");
    std::vector<std::string> out;
    while (true) {
        RAMPART_TRY(auto value, scan.name(kListSpecials));
        out.push_back(std::move(value));
        if (out.size() > kMaxConditionValues)
            return scan.wrong(fmt::format("more than {} values", kMaxConditionValues));
        if (!scan.take(',')) break;
    }
    if (!scan.take(']')) return scan.wrong("',' or ']' is wanted");
    return out;
}

bool same(std::string_view cell, std::optional<double> number, const std::string& value) {
    if (cell == value) return true;
    const auto wanted = number ? parse_number(value) : std::nullopt;
    return wanted && *wanted == *number;
}

}  // namespace

Result<LabelText> parse_label(std::string_view text) {
    WordScanner scan(text, Reason::kBadLabelCondition, "label");
    const bool quoted = text.starts_with('\'');
    LabelText out;
    size_t from = 0;
    if (quoted) {
        RAMPART_TRY(out.column, scan.name(""));
        if (scan.at_end()) return out;
        from = scan.place() - 1;  // the blank before the relation
    }
    const auto [at, known] = find_relation(text, from);
    if (!quoted && known == nullptr) return LabelText{std::string(text), std::nullopt};
    if (quoted && (known == nullptr || at != from))
        return scan.wrong("one of > >= < <= == != in, between blanks, is wanted");
    if (!quoted) {
        const auto end = text.substr(0, at).find_last_not_of(' ');
        if (end == std::string_view::npos) return scan.wrong("a column is wanted");
        out.column = text.substr(0, end + 1);
    }
    scan.move_to(at + 1 + known->word.size());
    out.condition = LabelCondition{known->relation, {}};
    if (known->relation == Relation::kOneOf) {
        RAMPART_TRY(out.condition->values, read_list(scan));
    } else {
        scan.skip_blanks();
        const size_t place = scan.place();
        RAMPART_TRY(auto value, scan.name(""));
        if (known->order && !parse_number(value)) {
            scan.move_to(place);
            return scan.wrong(
                fmt::format("{} compares numbers, and '{}' is none", known->word, value));
        }
        out.condition->values.push_back(std::move(value));
    }
    scan.skip_blanks();
    if (!scan.at_end()) return scan.wrong("nothing may follow");
    return out;
}

std::string to_text(const LabelText& label) {
    if (!label.condition) {
        const bool plain =
            !label.column.starts_with('\'') && find_relation(label.column, 0).second == nullptr;
        return plain ? label.column : quoted_name(label.column, label.column);
    }
    const auto& condition = *label.condition;
    size_t i = 0;
    while (kKnown[i].relation != condition.relation) ++i;
    const bool plain = find_relation(label.column, 0).second == nullptr;
    std::string out =
        fmt::format("{} {} ", quoted_name(label.column, plain ? "" : label.column), kKnown[i].word);
    if (condition.relation != Relation::kOneOf) return out + quoted_name(condition.values[0], "");
    for (size_t v = 0; v < condition.values.size(); ++v)
        out += (v == 0 ? "[" : ", ") + quoted_name(condition.values[v], kListSpecials);
    return out + ']';
}

std::optional<bool> holds(const LabelCondition& condition, std::string_view cell) {
    const auto number = parse_number(cell);
    const auto& values = condition.values;
    if (condition.relation == Relation::kEqual) return same(cell, number, values[0]);
    if (condition.relation == Relation::kNotEqual) return !same(cell, number, values[0]);
    if (condition.relation == Relation::kOneOf)
        return std::any_of(values.begin(), values.end(),
                           [&](const auto& value) { return same(cell, number, value); });
    if (!number) return std::nullopt;
    const double bound = parse_number(values[0]).value_or(0);
    switch (condition.relation) {
        case Relation::kGreater:
            return *number > bound;
        case Relation::kAtLeast:
            return *number >= bound;
        case Relation::kLess:
            return *number < bound;
        default:
            return *number <= bound;
    }
}

}  // namespace rampart::dataset
