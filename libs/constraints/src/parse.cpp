#include "rampart/constraints/parse.hpp"

#include <algorithm>
#include <cmath>

#include "lexer.hpp"
#include "rampart/constraints/definitions.hpp"
#include "rampart/constraints/reasons.hpp"
#include "words.hpp"

namespace rampart::constraints {
namespace {

using base::Error;
using base::make_error;
using base::Result;

/// Recursive descent over the tokens, one function per rule of the grammar.
class Parser {
  public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    Result<Constraint> run() {
        if (peek().kind == Token::Kind::kWord && !is_reserved(peek().content) && !is_tail(peek()) &&
            peek(1).is("("))
            return definition();
        Constraint out;
        RAMPART_TRY(out.left, sum());
        RAMPART_TRY(out.relation, comparison());
        RAMPART_TRY(out.right, sum());
        if (is_relation(peek())) {
            return error(
                "a constraint has one comparison; for a range write two constraints, or "
                "abs(…) <= …");
        }
        if (peek().kind != Token::Kind::kEnd) return error("the constraint should end here");
        if (means_ == 0) {
            return make_error(Reason::kConstraintSyntax,
                              "the constraint has no mean(…), cvar(…) or quantile(…): it says "
                              "nothing of the data");
        }
        return out;
    }

  private:
    /// Counts one level of nesting during its lifetime.
    struct Level {
        explicit Level(size_t& count) : depth(count) { ++depth; }
        ~Level() { --depth; }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        size_t& depth;
    };

    const Token& peek(size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    Token take() {
        Token token = peek();
        if (at_ + 1 < tokens_.size()) ++at_;
        return token;
    }
    bool accept(std::string_view sign) {
        if (!peek().is(sign)) return false;
        take();
        return true;
    }
    bool accept_word(std::string_view word) {
        if (!peek().is_word(word)) return false;
        take();
        return true;
    }

    template <class... Args>
    Error error(fmt::format_string<Args...> format, Args&&... args) const {
        return make_error(Reason::kConstraintSyntax, "{}: {}", where(peek()),
                          fmt::format(format, std::forward<Args>(args)...));
    }
    base::Status expect(std::string_view sign, std::string_view why) {
        if (accept(sign)) return base::ok();
        return error("here should stand '{}' {}", sign, why);
    }
    base::Status count_node() {
        if (++nodes_ <= kMaxNodes) return base::ok();
        return too_much("operators, means, numbers and conditions", kMaxNodes);
    }
    base::Status check_depth() const {
        if (depth_ <= kMaxNesting) return base::ok();
        return too_much("brackets, signs and 'not' within each other", kMaxNesting);
    }
    Error too_much(std::string_view what, size_t most) const {
        return make_error(Reason::kConstraintLimit,
                          "{}: more than {} {}; split the constraint into several", where(peek()),
                          most, what);
    }

    static bool is_relation(const Token& token) {
        return token.is(">=") || token.is("<=") || token.is(">") || token.is("<") ||
               token.is("=") || token.is("!=");
    }

    /// Returns whether a value begins so. The words are free as names of features.
    static bool is_tail(const Token& token) {
        return token.is_word("cvar") || token.is_word("quantile");
    }

    Result<Relation> comparison() {
        if (accept(">=")) return Relation::kAtLeast;
        if (accept("<=")) return Relation::kAtMost;
        if (peek().is("=") || peek().is("!=")) {
            return error(
                "no finite number of records proves that two averages are equal: write "
                "abs(A - B) <= 0.05, with the difference that you allow");
        }
        if (peek().is(">") || peek().is("<")) {
            return error("write >= or <=: a confidence bound cannot distinguish them from > and <");
        }
        return error("here should stand a comparison, >= or <=");
    }

    /// Reads a constraint that is called by the name of its definition.
    Result<Constraint> definition() {
        const auto known = definitions();
        const auto found = std::find_if(known.begin(), known.end(), [&](const Definition& d) {
            return d.name == peek().content;
        });
        if (found == known.end()) return no_definition();
        take();
        take();
        std::vector<std::string> groups;
        while (groups.size() < found->groups) {
            if (!groups.empty()) RAMPART_RETURN_IF_ERROR(expect(",", "and the other group"));
            if (peek().kind != Token::Kind::kText)
                return error("here should stand a group in quotes, as in {}", found->usage);
            if (!groups.empty() && groups[0] == peek().content)
                return error("a group is compared with another one, as in {}", found->usage);
            groups.push_back(take().content);
        }
        double value = 0, alpha = 0;
        if (found->tail) {
            RAMPART_RETURN_IF_ERROR(expect(",", fmt::format("as in {}", found->usage)));
            RAMPART_TRY(alpha, alpha_for(found->usage));
        }
        if (!found->default_is_zero || !peek().is(")")) {
            if (!groups.empty())
                RAMPART_RETURN_IF_ERROR(expect(",", fmt::format("as in {}", found->usage)));
            RAMPART_TRY(value, number_of(*found));
        }
        RAMPART_RETURN_IF_ERROR(expect(")", fmt::format("as in {}", found->usage)));
        if (peek().kind == Token::Kind::kEnd) return found->make(groups, value, alpha);
        return error("{} is a whole constraint: nothing follows it", found->name);
    }

    Error no_definition() const {
        std::string names;
        for (const Definition& d : definitions())
            names += fmt::format("{}{}", names.empty() ? "" : ", ", d.name);
        return error("no constraint has this name; those with a name are {}", names);
    }

    Result<double> number_of(const Definition& definition) {
        const bool negative = accept("-");
        if (peek().kind != Token::Kind::kNumber)
            return error("here should stand a number, as in {}", definition.usage);
        const double value = negative ? -peek().number : peek().number;
        if (value < definition.lowest || value > definition.highest) {
            return definition.highest == 1
                       ? error("{} takes a share from 0 to 1, not {}", definition.name, value)
                       : error("{} takes a number of 0 or more, not {}", definition.name, value);
        }
        take();
        return value;
    }

    Result<Expression> sum() {
        RAMPART_TRY(Expression left, product());
        while (peek().is("+") || peek().is("-")) {
            const bool plus = take().is("+");
            RAMPART_RETURN_IF_ERROR(count_node());
            RAMPART_TRY(Expression right, product());
            left = plus ? std::move(left) + std::move(right) : std::move(left) - std::move(right);
        }
        return left;
    }

    Result<Expression> product() {
        RAMPART_TRY(Expression left, signed_value());
        while (peek().is("*") || peek().is("/")) {
            const bool times = take().is("*");
            RAMPART_RETURN_IF_ERROR(count_node());
            RAMPART_TRY(Expression right, signed_value());
            left = times ? std::move(left) * std::move(right) : std::move(left) / std::move(right);
        }
        return left;
    }

    Result<Expression> signed_value() {
        const Level level(depth_);
        RAMPART_RETURN_IF_ERROR(check_depth());
        RAMPART_RETURN_IF_ERROR(count_node());
        if (accept("-")) {
            if (peek().kind == Token::Kind::kNumber) return number(-take().number);
            RAMPART_TRY(Expression part, signed_value());
            return -std::move(part);
        }
        if (peek().kind == Token::Kind::kNumber) return number(take().number);
        if (accept("(")) {
            RAMPART_TRY(Expression inner, sum());
            RAMPART_RETURN_IF_ERROR(expect(")", "for the bracket that was opened"));
            return inner;
        }
        for (const std::string_view function : {"abs", "min", "max"}) {
            if (accept_word(function)) return call(function);
        }
        if (accept_word("mean")) return mean_of(Statistic::kMean);
        if (accept_word("cvar")) return mean_of(Statistic::kCvar);
        if (accept_word("quantile")) return mean_of(Statistic::kQuantile);
        return no_value();
    }

    Error no_value() const {
        const Token& t = peek();
        if (t.is_word("impact") || t.is_word("label") || t.is_word("decision") ||
            t.is_word("loss")) {
            return error("what is compared are averages: write mean({})", t.content);
        }
        if (t.is("+")) return error("a value needs no + in front");
        if (is_relation(t) || t.kind == Token::Kind::kEnd) return error("a value is missing here");
        return error(
            "here should stand a number, mean(…), cvar(…), quantile(…), abs(…), min(…), max(…) or "
            "a bracket");
    }

    Result<Expression> call(std::string_view function) {
        RAMPART_RETURN_IF_ERROR(expect("(", "and what the function is of"));
        std::vector<Expression> parts;
        do {
            RAMPART_TRY(Expression part, sum());
            parts.push_back(std::move(part));
        } while (function != "abs" && accept(","));
        if (function == "abs" && peek().is(",")) return error("abs is of one value");
        RAMPART_RETURN_IF_ERROR(expect(")", "to end the function"));
        if (function == "abs") return abs(std::move(parts.front()));
        if (parts.size() < 2) return error("{} is of two values or more", function);
        return function == "min" ? min(std::move(parts)) : max(std::move(parts));
    }

    Result<Expression> mean_of(Statistic statistic) {
        if (++means_ > kMaxMeans) return too_much("means", kMaxMeans);
        RAMPART_RETURN_IF_ERROR(expect("(", "and what is averaged"));
        Expression out = mean(Quantity::kImpact);
        if (statistic == Statistic::kMean) {
            RAMPART_TRY(out.mean.quantity, quantity());
            RAMPART_RETURN_IF_ERROR(share_into(out));
        } else {
            out.mean.statistic = statistic;
            RAMPART_RETURN_IF_ERROR(alpha_into(out.mean));
        }
        if (accept(",")) {
            RAMPART_TRY(out.mean.policy, policy_of(out.mean.quantity));
        }
        if (accept("|")) {
            RAMPART_TRY(out.mean.condition, any());
        }
        if (peek().is("*") || peek().is("+") || peek().is("-") || peek().is("/")) {
            return error(
                "only decision * label can be averaged as a product; calculate outside, "
                "as in 1 - mean(loss)");
        }
        RAMPART_RETURN_IF_ERROR(expect(")",
                                       "to end the mean; conditions follow a '|', and are "
                                       "joined by 'and' and 'or'"));
        return out;
    }

    /// Reads a comparison of the impact with a number, where there is one.
    base::Status share_into(Expression& mean) {
        if (!is_relation(peek())) return base::ok();
        if (mean.mean.quantity != Quantity::kImpact)
            return error("only an impact is compared within a mean: mean(impact <= -100)");
        if (peek().is("=") || peek().is("!="))
            return error("an impact is compared by <, <=, > or >=, as in mean(impact <= -100)");
        Relation relation = Relation::kLess;
        for (const Relation r :
             {Relation::kLess, Relation::kAtMost, Relation::kGreater, Relation::kAtLeast}) {
            if (peek().is(to_string(r))) relation = r;
        }
        take();
        const bool negative = accept("-");
        if (peek().kind != Token::Kind::kNumber)
            return error("here should stand a number, as in mean(impact <= -100)");
        const double value = take().number;
        mean = impact_share(relation, negative ? -value : value);
        return base::ok();
    }

    /// Reads what precedes policy and condition of a tail.
    base::Status alpha_into(Mean& mean) {
        const std::string_view name = to_string(mean.statistic);
        if (!accept_word("impact")) return error("{0} is of the impact: {0}(impact, 0.1)", name);
        RAMPART_RETURN_IF_ERROR(
            expect(",", fmt::format("and the share of people, as in {}(impact, 0.1)", name)));
        RAMPART_TRY(mean.number, alpha_for(fmt::format("{}(impact, 0.1)", name)));
        return base::ok();
    }

    Result<double> alpha_for(std::string_view usage) {
        const double alpha = peek().number;
        if (peek().kind == Token::Kind::kNumber && alpha > 0 && alpha < 1) return take().number;
        return error(
            "here should stand the share of people at the lower end, more than 0 and less than 1 "
            "(0.1: the lowest 10 %), as in {}",
            usage);
    }

    Result<Quantity> quantity() {
        if (accept_word("impact")) return Quantity::kImpact;
        if (accept_word("loss")) return Quantity::kLoss;
        for (const auto& [first, second] :
             {std::pair("decision", "label"), std::pair("label", "decision")}) {
            if (!accept_word(first)) continue;
            if (peek().is("*") && peek(1).is_word(second)) {
                take();
                take();
                return Quantity::kDecisionLabel;
            }
            return first == std::string_view("label") ? Quantity::kLabel : Quantity::kDecision;
        }
        return error("what can be averaged is impact, label, decision, loss or decision * label");
    }

    Result<Policy> policy_of(Quantity quantity) {
        for (const Policy policy : {Policy::kCandidate, Policy::kReference, Policy::kAnchor}) {
            if (!peek().is_word(to_string(policy))) continue;
            if (quantity == Quantity::kLabel) {
                return error("the label is the same under every policy: leave the policy out");
            }
            take();
            return policy;
        }
        return error(
            "after the comma stands the policy: candidate (which may be left out), "
            "reference or anchor; a condition follows a '|'");
    }

    Result<Condition> any() { return joined("or"); }

    /// Reads parts joined by `or` or, within those, by `and`.
    Result<Condition> joined(std::string_view word) {
        const bool outer = word == "or";
        std::vector<Condition> parts;
        do {
            auto part = outer ? joined("and") : negation();
            if (!part) return part.error();
            parts.push_back(std::move(*part));
        } while (accept_word(word));
        if (parts.size() == 1) return std::move(parts.front());
        RAMPART_RETURN_IF_ERROR(count_node());
        return outer ? any_of(std::move(parts)) : all_of(std::move(parts));
    }

    Result<Condition> negation() {
        const Level level(depth_);
        RAMPART_RETURN_IF_ERROR(check_depth());
        RAMPART_RETURN_IF_ERROR(count_node());
        if (accept_word("not")) {
            RAMPART_TRY(Condition part, negation());
            return negated(std::move(part));
        }
        if (accept("(")) {
            RAMPART_TRY(Condition inner, any());
            RAMPART_RETURN_IF_ERROR(expect(")", "for the bracket that was opened"));
            return inner;
        }
        return test();
    }

    Result<Condition> test() {
        if (accept_word("label")) return label_test();
        if (accept_word("group")) return text_test("group", true);
        const Token& t = peek();
        if (t.is("!")) return error("write: not");
        if (t.kind == Token::Kind::kQuoted ||
            (t.kind == Token::Kind::kWord && !is_reserved(t.content))) {
            return feature_test(take().content);
        }
        if (t.is_word("decision") || t.is_word("impact") || t.is_word("loss")) {
            return error(
                "a condition is about features, the label and groups, not about {}; an "
                "average among the approved is mean(decision * label) / mean(decision)",
                t.content);
        }
        if (t.kind == Token::Kind::kWord) {
            return error(
                "'{}' is a word of the language; a feature of this name is `{}`, in "
                "backticks",
                t.content, t.content);
        }
        return error(
            "here should stand a condition, such as group = \"women\", label = 0 or "
            "age >= 25");
    }

    Result<Condition> label_test() {
        RAMPART_RETURN_IF_ERROR(expect("=", "and 0 or 1: a label is either"));
        const Token& t = peek();
        if (t.kind != Token::Kind::kNumber || (t.number != 0 && t.number != 1)) {
            return error("a label is 0 or 1");
        }
        return label_is(static_cast<int>(take().number));
    }

    Result<Condition> feature_test(std::string name) {
        const bool number = peek(1).kind == Token::Kind::kNumber || peek(1).is("-");
        if (!is_relation(peek()) || !number) return text_test(std::move(name), false);
        const std::string sign = take().content;
        const bool negative = accept("-");
        if (peek().kind != Token::Kind::kNumber) return error("after the sign stands a number");
        const double value = take().number;
        Relation relation = Relation::kEqual;
        for (const Relation r : {Relation::kNotEqual, Relation::kLess, Relation::kAtMost,
                                 Relation::kGreater, Relation::kAtLeast}) {
            if (sign == to_string(r)) relation = r;
        }
        return compare(std::move(name), relation, negative ? -value : value);
    }

    Result<Condition> text_test(std::string name, bool group) {
        if (accept_word("in")) {
            Condition out = group ? in_group("") : one_of(std::move(name), {});
            out.relation = Relation::kIn;
            out.values.clear();
            RAMPART_RETURN_IF_ERROR(expect("(", "and the values, separated by commas"));
            do {
                RAMPART_RETURN_IF_ERROR(count_node());
                RAMPART_RETURN_IF_ERROR(value_into(out));
            } while (accept(","));
            RAMPART_RETURN_IF_ERROR(expect(")", "to end the list of values"));
            return out;
        }
        if (!peek().is("=") && !peek().is("!=")) {
            if (is_relation(peek())) return error("only numbers are smaller or larger");
            return error("here should stand =, !=, <, <=, >, >= or in");
        }
        Condition out = group ? in_group("") : equals(std::move(name), "");
        out.values.clear();
        out.relation = take().is("=") ? Relation::kEqual : Relation::kNotEqual;
        RAMPART_RETURN_IF_ERROR(value_into(out));
        return out;
    }

    base::Status value_into(Condition& condition) {
        if (peek().kind != Token::Kind::kText) {
            return error("here should stand a value in quotes, such as \"women\"{}",
                         condition.relation == Relation::kIn ? "; numbers are compared by = and or"
                                                             : ", or a number");
        }
        condition.values.push_back(take().content);
        return base::ok();
    }

    std::vector<Token> tokens_;
    size_t at_ = 0, nodes_ = 0, means_ = 0, depth_ = 0;
};

/// Checks arities and that numbers are finite, so that the tree has a text.
bool well_formed(const Condition& c) {
    using Kind = Condition::Kind;
    const size_t parts = c.parts.size(), values = c.values.size();
    const bool shape = c.kind == Kind::kAll || c.kind == Kind::kAny ? parts >= 2
                       : c.kind == Kind::kNot                       ? parts == 1
                       : c.kind == Kind::kGroup || c.kind == Kind::kCategory
                           ? parts == 0 && values >= 1
                           : parts == 0;
    return shape && std::isfinite(c.number) &&
           std::all_of(c.parts.begin(), c.parts.end(),
                       [](const Condition& part) { return well_formed(part); });
}

bool well_formed(const Expression& e) {
    using Kind = Expression::Kind;
    const size_t parts = e.parts.size();
    const bool shape = e.kind == Kind::kNumber || e.kind == Kind::kMean  ? parts == 0
                       : e.kind == Kind::kNegate || e.kind == Kind::kAbs ? parts == 1
                       : e.kind == Kind::kMin || e.kind == Kind::kMax    ? parts >= 2
                                                                         : parts == 2;
    return shape && std::isfinite(e.number) && std::isfinite(e.mean.number) &&
           well_formed(e.mean.condition) &&
           std::all_of(e.parts.begin(), e.parts.end(),
                       [](const Expression& part) { return well_formed(part); });
}

}  // namespace

Result<Constraint> parse(std::string_view text) {
    RAMPART_TRY(auto tokens, tokens_of(text));
    return Parser(std::move(tokens)).run();
}

base::Status validate(const Constraint& constraint) {
    if (!well_formed(constraint.left) || !well_formed(constraint.right)) {
        return make_error(Reason::kBadConstraint,
                          "the tree has an operator with too few or too many parts, or a "
                          "number that is not finite");
    }
    const std::string written = text(constraint);
    RAMPART_TRY(const Constraint again, parse(written));
    if (again == constraint) return base::ok();
    return make_error(Reason::kBadConstraint,
                      "no text says this tree: what is unused by a part must be empty, and "
                      "a name must not hold a backtick");
}

}  // namespace rampart::constraints
