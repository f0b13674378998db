// Writes trees. How tightly an operator binds decides where brackets stand; parse.cpp reads by the
// same table.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "rampart/constraints/expression.hpp"
#include "words.hpp"

namespace rampart::constraints {
namespace {

constexpr std::array<std::string_view, 18> kReserved{
    "mean",  "abs",  "min",    "max",    "and",      "or",   "not",       "in",        "group",
    "label", "loss", "impact", "anchor", "decision", "true", "candidate", "reference", "false"};

std::string in_quotes(std::string_view value) {
    std::string out = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string name_text(const std::string& name) {
    return is_plain_name(name) ? name : fmt::format("`{}`", name);
}

std::string values_text(const Condition& c) {
    if (c.relation != Relation::kIn) {
        return c.values.empty() ? std::string() : in_quotes(c.values.front());
    }
    std::string out = "(";
    for (const std::string& value : c.values) {
        if (out.size() > 1) out += ", ";
        out += in_quotes(value);
    }
    return out + ")";
}

/// Returns the binding strength: 0 for or, 1 for and, 2 for what needs no brackets.
int binding(const Condition& c) {
    return c.kind == Condition::Kind::kAny ? 0 : c.kind == Condition::Kind::kAll ? 1 : 2;
}

std::string bracketed(const Condition& c, bool brackets) {
    return brackets ? fmt::format("({})", text(c)) : text(c);
}

std::string joined(const Condition& c, std::string_view word) {
    std::string out;
    for (const Condition& part : c.parts) {
        if (!out.empty()) out += word;
        // a part that binds no tighter would be read as parts of this one
        out += bracketed(part, binding(part) <= binding(c));
    }
    return out;
}

/// Returns the binding strength: 0 for + and -, 1 for * and /, 2 for a sign, 3 for what needs no
/// brackets.
int binding(const Expression& e) {
    switch (e.kind) {
        case Expression::Kind::kAdd:
        case Expression::Kind::kSubtract:
            return 0;
        case Expression::Kind::kMultiply:
        case Expression::Kind::kDivide:
            return 1;
        case Expression::Kind::kNegate:
            return 2;
        default:
            return 3;
    }
}

std::string bracketed(const Expression& e, bool brackets) {
    return brackets ? fmt::format("({})", text(e)) : text(e);
}

std::string between(const Expression& e, std::string_view sign) {
    const int own = binding(e);
    return fmt::format("{} {} {}", bracketed(e.parts[0], binding(e.parts[0]) < own), sign,
                       bracketed(e.parts[1], binding(e.parts[1]) <= own));
}

std::string call(std::string_view function, const std::vector<Expression>& parts) {
    std::string out = fmt::format("{}(", function);
    for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out += ", ";
        out += text(parts[i]);
    }
    return out + ")";
}

}  // namespace

bool is_reserved(std::string_view word) {
    return std::find(kReserved.begin(), kReserved.end(), word) != kReserved.end();
}

bool is_plain_name(std::string_view word) {
    return !word.empty() && is_name_start(word.front()) &&
           std::all_of(word.begin(), word.end(), is_name_part) && !is_reserved(word);
}

std::string text(const Condition& c) {
    switch (c.kind) {
        case Condition::Kind::kAlways:
            return "true";
        case Condition::Kind::kAll:
            return joined(c, " and ");
        case Condition::Kind::kAny:
            return joined(c, " or ");
        case Condition::Kind::kNot:
            return "not " + bracketed(c.parts.front(), binding(c.parts.front()) < 2);
        case Condition::Kind::kLabel:
            return fmt::format("label = {}", c.number);
        case Condition::Kind::kNumber:
            return fmt::format("{} {} {}", name_text(c.name), to_string(c.relation), c.number);
        case Condition::Kind::kGroup:
            return fmt::format("group {} {}", to_string(c.relation), values_text(c));
        case Condition::Kind::kCategory:
            return fmt::format("{} {} {}", name_text(c.name), to_string(c.relation),
                               values_text(c));
    }
    return "";
}

std::string text(const Mean& m) {
    std::string out = fmt::format("{}({}", to_string(m.statistic), to_string(m.quantity));
    if (m.statistic == Statistic::kShare) {
        out += fmt::format(" {} {}", to_string(m.relation), m.number);
    } else if (m.statistic != Statistic::kMean) {
        out += fmt::format(", {}", m.number);
    }
    if (m.policy != Policy::kCandidate) out += fmt::format(", {}", to_string(m.policy));
    if (m.condition.kind != Condition::Kind::kAlways) out += " | " + text(m.condition);
    return out + ")";
}

std::string text(const Expression& e) {
    switch (e.kind) {
        case Expression::Kind::kNumber:
            return fmt::format("{}", e.number);
        case Expression::Kind::kMean:
            return text(e.mean);
        case Expression::Kind::kNegate: {
            const Expression& part = e.parts.front();
            // "-3" is the number, so that minus the number 3 is "-(3)"
            const bool number = part.kind == Expression::Kind::kNumber && part.number >= 0;
            return "-" + bracketed(part, number || binding(part) < 2);
        }
        case Expression::Kind::kAdd:
            return between(e, "+");
        case Expression::Kind::kSubtract:
            return between(e, "-");
        case Expression::Kind::kMultiply:
            return between(e, "*");
        case Expression::Kind::kDivide:
            return between(e, "/");
        case Expression::Kind::kAbs:
            return call("abs", e.parts);
        case Expression::Kind::kMin:
            return call("min", e.parts);
        case Expression::Kind::kMax:
            return call("max", e.parts);
    }
    return "";
}

std::string text(const Constraint& c) {
    return fmt::format("{} {} {}", text(c.left), to_string(c.relation), text(c.right));
}

}  // namespace rampart::constraints
