#include "rampart/constraints/program.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "rampart/constraints/parse.hpp"
#include "rampart/constraints/reasons.hpp"

namespace rampart::constraints {
namespace {

using base::make_error;
using base::Result;
using Kind = Formula::Kind;
using Parts = std::vector<Formula>;

Formula combine(Formula::Kind kind, Parts parts) {
    return {.kind = kind, .parts = std::move(parts)};
}

Formula constant(double value) { return {.number = value}; }

/// Returns the leaf's formula; adds the leaf to `leaves` if it is new.
Formula leaf_formula(const Leaf& leaf, std::vector<Leaf>& leaves) {
    const auto found = std::find(leaves.begin(), leaves.end(), leaf);
    const auto index = static_cast<size_t>(found - leaves.begin());
    if (found == leaves.end()) leaves.push_back(leaf);
    return {.kind = Kind::kLeaf, .leaf = index};
}

/// Returns the leaf of a mean. That of a tail stands for it until TailExpansion.
Leaf leaf_of(const Mean& m) {
    Leaf out{m.quantity, m.policy, std::nullopt, m.condition};
    if (m.statistic == Statistic::kShare) {
        out.value = Leaf::Value::kIndicator;
        out.relation = m.relation;
        out.threshold = m.number;
    } else if (m.statistic != Statistic::kMean) {
        out.tail = Tail{.statistic = m.statistic, .alpha = m.number};
    }
    return out;
}

/// Returns the mean that a leaf without a tail is written as, under one of its policies.
Mean mean_of(const Leaf& leaf, Policy policy) {
    const bool share = leaf.value == Leaf::Value::kIndicator;
    return {leaf.quantity,  policy,
            leaf.condition, share ? Statistic::kShare : Statistic::kMean,
            leaf.relation,  leaf.threshold};
}

/// Returns the formula of an expression as written, every mean a leaf.
Formula formula_of(const Expression& e, std::vector<Leaf>& leaves) {
    constexpr std::array<Kind, 10> kKinds{
        Kind::kNumber,   Kind::kLeaf,   Kind::kNegate, Kind::kAdd, Kind::kSubtract,
        Kind::kMultiply, Kind::kDivide, Kind::kAbs,    Kind::kMin, Kind::kMax};
    if (e.kind == Expression::Kind::kNumber) return constant(e.number);
    if (e.kind == Expression::Kind::kMean) {
        return leaf_formula(leaf_of(e.mean), leaves);
    }
    Parts parts;
    for (const Expression& part : e.parts) parts.push_back(formula_of(part, leaves));
    return combine(kKinds[static_cast<size_t>(e.kind)], std::move(parts));
}

/// Returns every sum or difference of a part of `a` and a part of `b`, at most one more than the
/// limit, which is then the error.
Parts crossed(Kind kind, Parts a, Parts b) {
    Parts out;
    if (a.size() == 1 && b.size() == 1) {
        Parts both;
        both.push_back(std::move(a.front()));
        both.push_back(std::move(b.front()));
        out.push_back(combine(kind, std::move(both)));
        return out;
    }
    for (const Formula& x : a) {
        for (const Formula& y : b) {
            if (out.size() > kMaxStatements) return out;
            out.push_back(combine(kind, {x, y}));
        }
    }
    return out;
}

Parts wrapped(Parts parts, const auto& change) {
    for (Formula& part : parts) part = change(std::move(part));
    return parts;
}

Parts negated(Parts parts) {
    return wrapped(std::move(parts),
                   [](Formula part) { return combine(Kind::kNegate, {std::move(part)}); });
}

void append(Parts& out, Parts more) {
    for (Formula& part : more) {
        if (out.size() <= kMaxStatements) out.push_back(std::move(part));
    }
}

bool is_factor(const Formula& f) { return f.kind == Kind::kNumber && f.number != 0; }

/// Returns formulas of which f is the smallest (`lower`) or the largest: exactly, as real numbers.
Parts split(const Formula& f, bool lower) {
    const auto whole = [&] { return Parts{f}; };
    switch (f.kind) {
        case Kind::kAdd:
            return crossed(f.kind, split(f.parts[0], lower), split(f.parts[1], lower));
        case Kind::kSubtract:
            return crossed(f.kind, split(f.parts[0], lower), split(f.parts[1], !lower));
        case Kind::kNegate:
            return negated(split(f.parts[0], !lower));
        case Kind::kMultiply: {
            const bool first = is_factor(f.parts[0]);
            if (!first && !is_factor(f.parts[1])) return whole();
            const Formula &factor = f.parts[first ? 0 : 1], &other = f.parts[first ? 1 : 0];
            return wrapped(split(other, lower == (factor.number > 0)), [&](Formula part) {
                return combine(f.kind, {factor, std::move(part)});
            });
        }
        case Kind::kDivide:
            if (!is_factor(f.parts[1])) return whole();
            return wrapped(split(f.parts[0], lower == (f.parts[1].number > 0)), [&](Formula part) {
                return combine(f.kind, {std::move(part), f.parts[1]});
            });
        case Kind::kMin:
        case Kind::kMax: {
            if ((f.kind == Kind::kMin) != lower) return whole();
            Parts out;
            for (const Formula& part : f.parts) append(out, split(part, lower));
            return out;
        }
        case Kind::kAbs: {  // max(d, -d)
            if (lower) return whole();
            Parts out = split(f.parts[0], false);
            append(out, negated(split(f.parts[0], true)));
            return out;
        }
        case Kind::kNumber:
        case Kind::kLeaf:
        case Kind::kCvar:
        case Kind::kQuantile:
            break;
    }
    return whole();
}

/// Joins means of one quantity and condition that stand in a sum with opposite signs. The result is
/// over `leaves`, which gets those that are used.
class Pairing {
  public:
    Pairing(const std::vector<Leaf>& written, std::vector<Leaf>& leaves)
        : written_(written), leaves_(leaves) {}

    Formula of(const Formula& f) {
        switch (f.kind) {
            case Kind::kNumber:
                return f;
            case Kind::kLeaf:
            case Kind::kAdd:
            case Kind::kSubtract:
            case Kind::kNegate:
                return sum(f);
            default:
                Parts parts;
                for (const Formula& part : f.parts) parts.push_back(of(part));
                return combine(f.kind, std::move(parts));
        }
    }

  private:
    struct Term {
        bool minus = false;
        const Formula* formula = nullptr;
        const Leaf* leaf = nullptr;  // nullptr: something else
        std::optional<Leaf> pair{};  // instead of `leaf`
        bool gone = false;
    };

    void flatten(const Formula& f, bool minus, std::vector<Term>& out) const {
        switch (f.kind) {
            case Kind::kAdd:
            case Kind::kSubtract:
                flatten(f.parts[0], minus, out);
                flatten(f.parts[1], minus != (f.kind == Kind::kSubtract), out);
                break;
            case Kind::kNegate:
                flatten(f.parts[0], !minus, out);
                break;
            default:
                out.push_back({.minus = minus,
                               .formula = &f,
                               .leaf = f.kind == Kind::kLeaf ? &written_[f.leaf] : nullptr});
        }
    }

    static void pair_up(std::vector<Term>& terms, size_t i) {
        Term& term = terms[i];
        if (term.gone || term.leaf == nullptr) return;
        const Leaf& a = *term.leaf;
        for (size_t j = i + 1; j < terms.size(); ++j) {
            Term& other = terms[j];
            if (other.gone || other.leaf == nullptr || other.minus == term.minus) continue;
            const Leaf& b = *other.leaf;
            if (!(mean_of(a, a.policy) == mean_of(b, a.policy)) || a.tail != b.tail) continue;
            if (a.tail && a.policy != b.policy) continue;  // no tail of the difference
            other.gone = true;
            if (a.policy == b.policy) {
                term.gone = true;  // a - a is 0
                return;
            }
            const bool in_order = a.policy < b.policy;
            term.pair = a;
            term.pair->policy = in_order ? a.policy : b.policy;
            term.pair->minus = in_order ? b.policy : a.policy;
            term.minus = term.minus == in_order;
            return;
        }
    }

    Formula sum(const Formula& f) {
        std::vector<Term> terms;
        flatten(f, false, terms);
        for (size_t i = 0; i < terms.size(); ++i) pair_up(terms, i);
        std::optional<Formula> out;
        for (const Term& term : terms) {
            if (term.gone) continue;
            Formula next = term.pair              ? leaf_formula(*term.pair, leaves_)
                           : term.leaf != nullptr ? leaf_formula(*term.leaf, leaves_)
                                                  : of(*term.formula);
            if (!out) {
                out = term.minus ? combine(Kind::kNegate, {std::move(next)}) : std::move(next);
            } else {
                out = combine(term.minus ? Kind::kSubtract : Kind::kAdd,
                              {std::move(*out), std::move(next)});
            }
        }
        return out.value_or(constant(0));
    }

    const std::vector<Leaf>& written_;
    std::vector<Leaf>& leaves_;
};

/// Finds the ends of the leaves that the requested ends of a formula depend on.
class NeedFinder {
  public:
    NeedFinder(std::span<const Known> ranges) : ranges_(ranges), needs_(2 * ranges.size()) {}

    std::vector<End> of(const Formula& formula) {
        mark(formula, true, false);
        std::vector<End> out;
        for (size_t i = 0; i < needs_.size(); ++i) {
            if (needs_[i] != 0) out.push_back({i / 2, i % 2 == 1});
        }
        return out;
    }

  private:
    enum class Sign { kPositive, kNegative, kBoth };

    /// Returns the range of the formula for any data.
    Sign sign(const Formula& formula) const {
        const Known range = propagate(formula, ranges_);
        if (range && range->lo >= 0) return Sign::kPositive;
        if (range && range->hi <= 0) return Sign::kNegative;
        return Sign::kBoth;
    }

    /// Marks the ends of a part that enters multiplied by a factor of this sign.
    void scaled(const Formula& part, Sign sign, bool lower, bool upper) {
        switch (sign) {
            case Sign::kPositive:
                return mark(part, lower, upper);
            case Sign::kNegative:
                return mark(part, upper, lower);
            case Sign::kBoth:
                return mark(part, true, true);
        }
    }

    void mark(const Formula& f, bool lower, bool upper) {
        switch (f.kind) {
            case Kind::kNumber:
                return;
            case Kind::kLeaf:
                needs_[2 * f.leaf] |= static_cast<char>(lower);
                needs_[2 * f.leaf + 1] |= static_cast<char>(upper);
                return;
            case Kind::kNegate:
                return mark(f.parts[0], upper, lower);
            case Kind::kSubtract:
                mark(f.parts[0], lower, upper);
                return mark(f.parts[1], upper, lower);
            case Kind::kMultiply:
                scaled(f.parts[0], sign(f.parts[1]), lower, upper);
                return scaled(f.parts[1], sign(f.parts[0]), lower, upper);
            case Kind::kDivide:
                scaled(f.parts[0], sign(f.parts[1]), lower, upper);
                return mark(f.parts[1], true, true);  // it has to be shown that it is not 0
            case Kind::kAbs:
                return scaled(f.parts[0], sign(f.parts[0]), lower, upper);
            case Kind::kAdd:
            case Kind::kMin:
            case Kind::kMax:
                for (const Formula& part : f.parts) mark(part, lower, upper);
                return;
            case Kind::kCvar:
            case Kind::kQuantile:
                return;  // a leaf as yet
        }
    }

    std::span<const Known> ranges_;
    std::vector<char> needs_;  // lower and upper end of each leaf
};

/// Replaces the tails of a statement by the means that bound the ends that it needs.
class TailExpansion {
  public:
    TailExpansion(const std::vector<Leaf>& found, std::vector<Leaf>& leaves)
        : found_(found), leaves_(leaves) {}

    Statement of(const Formula& formula, std::span<const End> needs) {
        Statement out;
        ends_ = needs;
        needs_.clear();
        number_ = quantile_alone(formula);
        out.formula = expanded(formula);
        const auto order = [](const End& a, const End& b) {
            return a.leaf != b.leaf ? a.leaf < b.leaf : a.upper < b.upper;
        };
        std::sort(needs_.begin(), needs_.end(), order);
        needs_.erase(std::unique(needs_.begin(), needs_.end()), needs_.end());
        out.needs = std::move(needs_);
        return out;
    }

  private:
    bool needed(size_t leaf, bool upper) const {
        return std::find(ends_.begin(), ends_.end(), End{leaf, upper}) != ends_.end();
    }

    /// Returns the number with which a formula compares a quantile and nothing else.
    std::optional<double> quantile_alone(const Formula& f) const {
        if (f.kind != Kind::kSubtract) return std::nullopt;
        const bool first = f.parts[0].kind == Kind::kLeaf;
        const Formula &leaf = f.parts[first ? 0 : 1], &other = f.parts[first ? 1 : 0];
        if (leaf.kind != Kind::kLeaf || other.kind != Kind::kNumber) return std::nullopt;
        const auto& tail = found_[leaf.leaf].tail;
        if (!tail || tail->statistic != Statistic::kQuantile) return std::nullopt;
        return other.number;
    }

    Formula expanded(const Formula& f) {
        if (f.kind == Kind::kLeaf) {
            return found_[f.leaf].tail ? tail_of(f.leaf) : kept(f.leaf);
        }
        Formula out = f;
        for (Formula& part : out.parts) part = expanded(part);
        return out;
    }

    Formula kept(size_t leaf) {
        Formula out = leaf_formula(found_[leaf], leaves_);
        for (const bool upper : {false, true}) {
            if (needed(leaf, upper)) needs_.push_back({out.leaf, upper});
        }
        return out;
    }

    Formula tail_of(size_t leaf) {
        const Tail tail = *found_[leaf].tail;
        const bool lower = needed(leaf, false), upper = needed(leaf, true);
        const auto part = [&](bool of_upper, Leaf::Value value, Relation relation,
                              std::initializer_list<bool> ends) {
            if (!(of_upper ? upper : lower)) return constant(0);
            Leaf mean = found_[leaf];
            mean.value = value;
            mean.relation = relation;
            mean.tail->upper = of_upper;
            if (number_) {
                mean.tail.reset();
                mean.threshold = *number_;
            }
            Formula out = leaf_formula(mean, leaves_);
            for (const bool end : ends) needs_.push_back({out.leaf, end});
            return out;
        };
        using Value = Leaf::Value;
        Formula out{.kind = Kind::kCvar, .number = tail.alpha};
        if (tail.statistic == Statistic::kCvar) {
            out.parts.push_back(part(false, Value::kShortfall, Relation::kEqual, {false}));
            out.parts.push_back(part(true, Value::kShortfall, Relation::kEqual, {true}));
            out.parts.push_back(part(true, Value::kIndicator, Relation::kLess, {false, true}));
        } else {
            out.kind = Kind::kQuantile;
            out.parts.push_back(part(false, Value::kIndicator, Relation::kLess, {true}));
            out.parts.push_back(part(true, Value::kIndicator, Relation::kAtMost, {false}));
        }
        return out;
    }

    const std::vector<Leaf>& found_;
    std::vector<Leaf>& leaves_;
    std::span<const End> ends_;
    std::vector<End> needs_;
    std::optional<double> number_;
};

base::Status check_counts(const Program& program) {
    if (program.leaves.size() > kMaxLeaves) {
        return make_error(Reason::kConstraintLimit,
                          "the constraint has {} different means, at most {} are allowed: "
                          "every one of them costs a share of delta; split the constraint",
                          program.leaves.size(), kMaxLeaves);
    }
    for (const Statement& statement : program.statements) {
        if (!statement.needs.empty()) continue;
        return make_error(Reason::kConstraintEmpty,
                          "the constraint, or a part of it, says nothing of the data: its "
                          "means cancel each other or are multiplied by 0");
    }
    return base::ok();
}

}  // namespace

std::string text(const Leaf& leaf) {
    if (leaf.tail) {
        std::string rest;
        if (leaf.policy != Policy::kCandidate) rest += fmt::format(", {}", to_string(leaf.policy));
        if (leaf.condition.kind != Condition::Kind::kAlways)
            rest += fmt::format(" | {}", text(leaf.condition));
        const std::string value = leaf.value == Leaf::Value::kShortfall
                                      ? "min(impact - c, 0)"
                                      : fmt::format("impact {} c", to_string(leaf.relation));
        return fmt::format("mean({}{}), c of the {} end of {}(impact, {}{})", value, rest,
                           leaf.tail->upper ? "upper" : "lower", to_string(leaf.tail->statistic),
                           leaf.tail->alpha, rest);
    }
    const std::string first = text(mean_of(leaf, leaf.policy));
    if (!leaf.minus) return first;
    return fmt::format("{} - {}", first, text(mean_of(leaf, *leaf.minus)));
}

bool uses_label(const Leaf& leaf) {
    return uses_label(Mean{leaf.quantity, leaf.policy, leaf.condition});
}

Interval range_of(const Leaf& leaf, Interval impact_range) {
    const bool impact = leaf.quantity == Quantity::kImpact && leaf.value != Leaf::Value::kIndicator;
    const Interval range = impact ? impact_range : Interval{0, 1};
    const Known difference = subtract(range, range);
    if (leaf.value == Leaf::Value::kShortfall) return {difference->lo, 0};
    if (!leaf.minus) return range;
    return impact ? *difference : Interval{-1, 1};
}

Result<Program> compile(const Constraint& constraint, Interval impact_range) {
    RAMPART_RETURN_IF_ERROR(validate(constraint));
    if (!(impact_range.lo < impact_range.hi && std::isfinite(impact_range.hi - impact_range.lo))) {
        return make_error(Reason::kBadImpactRange,
                          "the range of impacts is [{}, {}]: it must be "
                          "finite and not empty",
                          impact_range.lo, impact_range.hi);
    }
    Program out{
        .constraint = constraint, .leaves = {}, .statements = {}, .impact_range = impact_range};
    const bool at_least = constraint.relation == Relation::kAtLeast;
    std::vector<Leaf> written;
    Formula left = formula_of(constraint.left, written);
    Formula right = formula_of(constraint.right, written);
    if (!at_least) std::swap(left, right);
    const Parts parts = split(combine(Kind::kSubtract, {std::move(left), std::move(right)}), true);
    if (parts.size() > kMaxStatements) {
        return make_error(Reason::kConstraintLimit,
                          "the constraint says more than {} things at once (each abs doubles "
                          "their number): split it into several",
                          kMaxStatements);
    }
    std::vector<Leaf> found;
    Pairing pairing(written, found);
    Parts formulas;
    for (const Formula& part : parts) formulas.push_back(pairing.of(part));
    std::vector<Known> ranges;
    for (const Leaf& leaf : found) ranges.push_back(range_of(leaf, impact_range));
    TailExpansion expansion(found, out.leaves);
    for (const Formula& formula : formulas) {
        out.statements.push_back(expansion.of(formula, NeedFinder(ranges).of(formula)));
    }
    RAMPART_RETURN_IF_ERROR(check_counts(out));
    return out;
}

Result<Program> compile(std::string_view constraint, Interval impact_range) {
    RAMPART_TRY(const Constraint parsed, parse(constraint));
    return compile(parsed, impact_range);
}

}  // namespace rampart::constraints
