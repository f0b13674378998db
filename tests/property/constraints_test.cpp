// Laws of the constraint language on random constraints: one text per tree, and intervals that
// contain the truth.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "rampart/base/random.hpp"
#include "rampart/constraints/parse.hpp"
#include "rampart/constraints/program.hpp"

namespace rampart::constraints {
namespace {

constexpr Interval kImpact{-150, 75};

Condition condition(base::Random& random, int depth) {
    const uint64_t kind = random.below(depth > 0 ? 9 : 5);
    const auto parts = [&] {
        std::vector<Condition> out;
        for (uint64_t i = 0; i < 2 + random.below(2); ++i) {
            out.push_back(condition(random, depth - 1));
        }
        return out;
    };
    const char* names[] = {"age", "credit limit", "label", "A.b_1", "and"};
    const char* values[] = {"women", "a \"b\"\\", "", "'", "ä"};
    switch (kind) {
        case 0:
            return label_is(static_cast<int>(random.below(2)));
        case 1:
            return in_group(values[random.below(5)]);
        case 2:
            return equals(names[random.below(5)], values[random.below(5)]);
        case 3:
            return one_of(names[random.below(5)], {values[random.below(5)], "z"});
        case 4:
            return compare(
                names[random.below(5)], static_cast<Relation>(random.below(6)),
                random.bernoulli(0.5) ? std::floor(random.uniform(-9, 9)) : random.normal() * 1e6);
        case 5:
            return negated(condition(random, depth - 1));
        case 6:
            return any_of(parts());
        default:
            return all_of(parts());
    }
}

Expression leaf(base::Random& random) {
    // few different ones, so that some occur twice and some pair up
    const auto quantity = static_cast<Quantity>(random.below(5));
    const auto policy =
        quantity == Quantity::kLabel ? Policy::kCandidate : static_cast<Policy>(random.below(3));
    return mean(quantity, random.bernoulli(0.5) ? Condition{} : in_group("women"), policy);
}

Expression tail(base::Random& random) {
    const auto policy = static_cast<Policy>(random.below(3));
    const auto relation =
        static_cast<Relation>(static_cast<uint64_t>(Relation::kLess) + random.below(4));
    switch (random.below(3)) {
        case 0:
            return cvar(random.uniform(0.001, 0.999), condition(random, 1), policy);
        case 1:
            return quantile(random.uniform(0.001, 0.999), {}, policy);
        default:
            return impact_share(relation, random.normal() * 100, condition(random, 1), policy);
    }
}

Expression expression(base::Random& random, int depth) {
    if (depth == 0 || random.bernoulli(0.15)) {
        if (random.bernoulli(0.6)) return leaf(random);
        return number(random.bernoulli(0.5) ? std::floor(random.uniform(-3, 4)) : random.normal());
    }
    const auto part = [&] { return expression(random, depth - 1); };
    switch (random.below(9)) {
        case 0:
            return -part();
        case 1:
        case 2:
            return part() + part();
        case 3:
        case 4:
            return part() - part();
        case 5:
            return part() * part();
        case 6:
            return part() / part();
        case 7:
            return abs(part());
        default:
            return random.bernoulli(0.5) ? min({part(), part()}) : max({part(), part(), part()});
    }
}

Constraint constraint(base::Random& random, int depth) {
    const Expression left = expression(random, depth) + leaf(random);
    const Expression right = expression(random, depth - 1);
    return random.bernoulli(0.5) ? at_least(left, right) : at_most(left, right);
}

RC_GTEST_PROP(Constraints, EveryTreeReadsBackFromItsText, (uint64_t seed)) {
    base::Random random(seed);
    Constraint tree = constraint(random, 3);
    tree.right = tree.right + mean(Quantity::kLoss, condition(random, 3)) * tail(random);
    const std::string written = text(tree);
    const auto again = parse(written);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == tree);
    RC_ASSERT(text(*again) == written);
    RC_ASSERT(validate(tree).has_value());
}

/// A truth for every mean.
using Truth = std::map<std::string, double>;

double draw(const Leaf& leaf, base::Random& random) {
    const Interval range = range_of(leaf, kImpact);
    return random.uniform(range.lo, range.hi);
}

double truth_of(const Mean& mean, Truth& truth, base::Random& random) {
    const Leaf leaf{mean.quantity, mean.policy, std::nullopt, mean.condition};
    const auto [at, fresh] = truth.emplace(text(leaf), 0);
    if (fresh) at->second = draw(leaf, random);
    return at->second;
}

double truth_of(const Leaf& leaf, Truth& truth, base::Random& random) {
    const double first = truth_of(Mean{leaf.quantity, leaf.policy, leaf.condition}, truth, random);
    if (!leaf.minus) return first;
    return first - truth_of(Mean{leaf.quantity, *leaf.minus, leaf.condition}, truth, random);
}

double value_of(const Expression& e, Truth& truth, base::Random& random) {
    using Kind = Expression::Kind;
    std::vector<double> parts;
    for (const Expression& part : e.parts) parts.push_back(value_of(part, truth, random));
    switch (e.kind) {
        case Kind::kNumber:
            return e.number;
        case Kind::kMean:
            return truth_of(e.mean, truth, random);
        case Kind::kNegate:
            return -parts[0];
        case Kind::kAdd:
            return parts[0] + parts[1];
        case Kind::kSubtract:
            return parts[0] - parts[1];
        case Kind::kMultiply:
            return parts[0] * parts[1];
        case Kind::kDivide:
            return parts[0] / parts[1];
        case Kind::kAbs:
            return std::abs(parts[0]);
        case Kind::kMin:
            return *std::min_element(parts.begin(), parts.end());
        case Kind::kMax:
            return *std::max_element(parts.begin(), parts.end());
    }
    return std::nan("");
}

/// Leaves known exactly, except for rounding where two means are subtracted.
std::vector<Known> points(const Program& program, Truth& truth, base::Random& random) {
    std::vector<Known> out;
    for (const Leaf& leaf : program.leaves) {
        const double x = truth_of(leaf, truth, random);
        out.push_back(Interval{x, x});
    }
    return out;
}

RC_GTEST_PROP(Constraints, TheStatementsTogetherSayWhatTheConstraintSays, (uint64_t seed)) {
    base::Random random(seed);
    const Constraint tree = constraint(random, 3);
    const auto program = compile(tree, kImpact);
    RC_PRE(program.has_value());  // some cancel, some are too complex
    Truth truth;
    const double left = value_of(tree.left, truth, random);
    const double right = value_of(tree.right, truth, random);
    const double g = tree.relation == Relation::kAtLeast ? left - right : right - left;
    const auto leaves = points(*program, truth, random);
    double smallest = std::numeric_limits<double>::infinity(), size = 1;
    for (const Statement& statement : program->statements) {
        const Known value = propagate(statement.formula, leaves);
        RC_PRE(value.has_value());  // a division by 0
        smallest = std::min(smallest, value->lo);
        size = std::max({size, std::abs(value->lo), std::abs(left), std::abs(right)});
    }
    RC_PRE(std::isfinite(g) && size < 1e6);
    RC_ASSERT(std::abs(g - smallest) <= 1e-6 * size);
}

RC_GTEST_PROP(Constraints, TheIntervalHoldsTheTruthWhereverItIsInTheLeavesIntervals,
              (uint64_t seed)) {
    base::Random random(seed);
    const auto program = compile(constraint(random, 3), kImpact);
    RC_PRE(program.has_value());
    Truth truth;
    const auto exact = points(*program, truth, random);
    for (const Statement& statement : program->statements) {
        // ends without a bound are those of the range
        std::vector<Known> wide;
        for (const Leaf& leaf : program->leaves) wide.push_back(range_of(leaf, kImpact));
        for (const End& end : statement.needs) {
            Interval& interval = *wide[end.leaf];
            const double x = exact[end.leaf]->lo, width = random.uniform(0, 0.2);
            (end.upper ? interval.hi : interval.lo) = end.upper ? x + width : x - width;
        }
        const Known point = propagate(statement.formula, exact);
        const Known interval = propagate(statement.formula, wide);
        RC_PRE(interval.has_value());
        RC_ASSERT(point.has_value());
        RC_ASSERT(interval->lo <= point->lo);
        RC_ASSERT(interval->hi >= point->hi);
    }
}

/// A few people with impacts, and what of them is true by sorting.
struct FewPeople {
    std::vector<double> impacts;

    explicit FewPeople(base::Random& random) {
        for (uint64_t i = 0; i < 1 + random.below(12); ++i)
            impacts.push_back(std::floor(random.uniform(kImpact.lo, kImpact.hi) / 25) * 25);
        std::sort(impacts.begin(), impacts.end());
    }
    double mean_of(const auto& value) const {
        double sum = 0;
        for (const double impact : impacts) sum += value(impact);
        return sum / static_cast<double>(impacts.size());
    }
    double quantile_of(double alpha) const {
        for (const double v : impacts) {
            if (mean_of([&](double x) { return x <= v ? 1.0 : 0.0; }) >= alpha) return v;
        }
        return impacts.back();
    }
    /// Fills a share alpha from the lowest on.
    double cvar_of(double alpha) const {
        double left = alpha, sum = 0;
        for (const double v : impacts) {
            const double mass = std::min(left, 1 / static_cast<double>(impacts.size()));
            sum += mass * v;
            left -= mass;
        }
        return sum / alpha;
    }
    double truth_of(const Leaf& leaf, double c) const {
        return mean_of([&](double x) {
            if (leaf.value == Leaf::Value::kShortfall) return std::min(x - c, 0.0);
            return (leaf.relation == Relation::kLess ? x < c : x <= c) ? 1.0 : 0.0;
        });
    }
};

RC_GTEST_PROP(Constraints, ATailLiesInItsIntervalForEveryThreshold, (uint64_t seed)) {
    base::Random random(seed);
    const FewPeople people(random);
    const double alpha =
        random.bernoulli(0.3) ? 0.25 * (1 + random.below(3)) : random.uniform(0.01, 0.99);
    const bool is_cvar = random.bernoulli(0.5), above = random.bernoulli(0.5);
    const Expression tail = is_cvar ? cvar(alpha) : quantile(alpha);
    const auto program = compile(
        above ? at_least(number(2) * tail, number(0)) : at_most(number(2) * tail, number(0)),
        kImpact);
    RC_ASSERT(program.has_value());
    const double c = random.bernoulli(0.5) ? people.impacts[random.below(people.impacts.size())]
                                           : random.uniform(kImpact.lo, kImpact.hi);
    const std::vector<double> thresholds(program->leaves.size(), c);
    std::vector<Known> leaves;
    const double slack = random.bernoulli(0.3) ? 1e-12 : random.uniform(0, 0.3);
    for (const Leaf& leaf : program->leaves) {
        const double truth = people.truth_of(leaf, c);
        leaves.push_back(
            intersect(range_of(leaf, kImpact), Interval{truth - slack, truth + slack}));
    }
    const Known g = propagate(program->statements[0].formula, leaves, {kImpact, thresholds});
    RC_ASSERT(g.has_value());
    const double truth = is_cvar ? people.cvar_of(alpha) : people.quantile_of(alpha);
    RC_ASSERT(g->lo <= (above ? 2 : -2) * truth + 1e-9);
    RC_ASSERT(g->hi >= (above ? 2 : -2) * truth - 1e-9);
    // the quantile itself as threshold, and no doubt about the means, leave no doubt about a cvar
    if (is_cvar && slack == 1e-12 && c == people.quantile_of(alpha) && above)
        RC_ASSERT(std::abs(g->lo - 2 * truth) < 1e-6);
}

RC_GTEST_PROP(Constraints, EndsThatWereNotAskedForDoNotMoveTheLowerEnd, (uint64_t seed)) {
    base::Random random(seed);
    const auto program = compile(constraint(random, 2), kImpact);
    RC_PRE(program.has_value());
    Truth truth;
    const auto exact = points(*program, truth, random);
    for (const Statement& statement : program->statements) {
        std::vector<Known> wide, narrow;
        for (size_t i = 0; i < program->leaves.size(); ++i) {
            const auto asked = [&](bool upper) {
                return std::find(statement.needs.begin(), statement.needs.end(), End{i, upper}) !=
                       statement.needs.end();
            };
            const Interval range = range_of(program->leaves[i], kImpact);
            const double x = exact[i]->lo;
            wide.push_back(Interval{asked(false) ? x : range.lo, asked(true) ? x : range.hi});
            narrow.push_back(exact[i]);
        }
        const Known a = propagate(statement.formula, wide),
                    b = propagate(statement.formula, narrow);
        RC_PRE(a.has_value() && b.has_value());
        RC_ASSERT(std::abs(a->lo - b->lo) <= 1e-9 * std::max(1.0, std::abs(b->lo)));
    }
}

}  // namespace
}  // namespace rampart::constraints
