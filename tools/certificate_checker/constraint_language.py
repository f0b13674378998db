"""The language of constraints: which means have to be bounded, and what follows from their bounds.

Reads the expression as the claim words it. A leaf is a mean: (quantity, policy, the policy whose
mean is taken off or None, condition, value). The value is None for the quantity itself, or
(relation, threshold, tail) for 1 where an impact is so and 0 elsewhere; "min" as the relation is
for what it lacks of the threshold. A tail is (statistic, alpha, upper end), and has the threshold
in the plan. A formula is ("n", number), ("leaf", index) or (operation, formula, ...); an interval
is (lo, hi), or None where nothing is known.
"""
import ast
import math
import re
from fractions import Fraction

MEAN = re.compile(r"(impact|label|decision \* label|decision|loss)"
                  r"(?: (<=|<|>=|>) (-?[0-9][^ ,|]*))?"
                  r"(?:, ([0-9][^ ,|]*))?(?:, (reference|anchor))?(?: \| (.*))?", re.DOTALL)
POLICIES = {"candidate": "pi", "reference": "s", "anchor": "anchor"}


def take_means(text):
    """The expression with names in place of its means, and the means."""
    out, means, at = "", [], 0
    while found := re.compile(r"(mean|cvar|quantile)\(").search(text, at):
        start, end, depth = found.start(), found.end(), 1
        while depth:
            if text[end] in "\"`":  # a text, or a name in backticks
                quote, end = text[end], end + 1
                while text[end] != quote:
                    end += 2 if quote == '"' and text[end] == "\\" else 1
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        what, relation, number, alpha, policy, condition = \
            MEAN.fullmatch(text[found.end():end - 1]).groups()
        if (found[1] != "mean") != (alpha is not None) or alpha and relation:
            raise ValueError("no constraint")
        value = (relation, float(number), None) if relation else None
        value = ("tail", None, (found[1], float(alpha), False)) if alpha else value
        means.append((what, policy or "candidate", None, condition or "", value))
        out, at = out + text[at:start] + f"_{len(means) - 1}", end
    return out + text[at:], means


def formula_of(node, means):
    if isinstance(node, ast.Constant):
        return "n", float(node.value)
    if isinstance(node, ast.Name):
        return "leaf", means.index(means[int(node.id[1:])])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        if isinstance(node.operand, ast.Constant):
            return "n", -node.operand.value
        return "neg", formula_of(node.operand, means)
    if isinstance(node, ast.BinOp):
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}[type(node.op)]
        return sign, formula_of(node.left, means), formula_of(node.right, means)
    if not isinstance(node, ast.Call) or node.func.id not in ("abs", "min", "max", "neg"):
        raise ValueError("no constraint")
    return node.func.id, *(formula_of(part, means) for part in node.args)


def split(f, lower):
    """Formulas of which f is the smallest (`lower`) or the largest."""
    op, parts = f[0], f[1:]
    factor = [part[0] == "n" and part[1] != 0 for part in parts] if op in "*/" else []
    if op in "+-":
        others = split(parts[1], lower == (op == "+"))
        return [(op, x, y) for x in split(parts[0], lower) for y in others]
    if op == "neg":
        return [(op, x) for x in split(parts[0], not lower)]
    if op == "*" and any(factor):
        by, other = parts if factor[0] else parts[::-1]
        return [(op, by, x) for x in split(other, lower == (by[1] > 0))]
    if op == "/" and factor[1]:
        return [(op, x, parts[1]) for x in split(parts[0], lower == (parts[1][1] > 0))]
    if op in ("min", "max") and (op == "min") == lower:
        return [x for part in parts for x in split(part, lower)]
    if op == "abs" and not lower:
        return split(parts[0], False) + [("neg", x) for x in split(parts[0], True)]
    return [f]


def differs_in_policy(one, other):
    """Whether one of two terms can be taken off the other as a mean of the difference."""
    mean, second = one[1], other[1]
    if not second or other[0] == one[0] or second[:1] + second[3:] != mean[:1] + mean[3:]:
        return False
    tail = mean[4] and mean[4][2]
    return not tail or second[1] == mean[1]  # there is no tail of the difference


def flat(f, minus, means):
    """The terms of a sum: whether each is taken off, its mean or None, its formula."""
    if f[0] in "+-":
        return flat(f[1], minus, means) + flat(f[2], minus != (f[0] == "-"), means)
    if f[0] == "neg":
        return flat(f[1], not minus, means)
    return [[minus, means[f[1]] if f[0] == "leaf" else None, f]]


def paired(f, means, leaves):
    """The formula over `leaves`, which grow, with two means of a sum that differ in sign and policy
    alone as one leaf."""
    if f[0] not in ("leaf", "+", "-", "neg"):
        return f if f[0] == "n" else (f[0], *(paired(part, means, leaves) for part in f[1:]))
    terms, out, order = flat(f, False, means), None, list(POLICIES)
    for i, term in enumerate(terms):
        rest = range(i + 1, len(terms)) if term and term[1] else []
        j = next((j for j in rest if terms[j] and differs_in_policy(term, terms[j])), None)
        if j is None:
            continue
        mean, other, terms[j] = term[1], terms[j][1], None
        first, second = sorted((mean[1], other[1]), key=order.index)
        pair = mean[0], first, second, *mean[3:]
        terms[i] = None if first == second else [term[0] == (first == mean[1]), pair, None]
    for minus, mean, other in filter(None, terms):
        if mean and mean not in leaves:
            leaves.append(mean)
        part = ("leaf", leaves.index(mean)) if mean else paired(other, means, leaves)
        out = (("neg", part) if minus else part) if out is None else \
            ("-" if minus else "+", out, part)
    return out or ("n", 0.0)


def outward(exact):
    x = float(exact)
    below, above = math.nextafter(x, -math.inf), math.nextafter(x, math.inf)
    return x if Fraction(x) <= exact else below, x if Fraction(x) >= exact else above


def tail_interval(f, leaves, tails):
    """The interval of (cvar or quantile, alpha, means of its ends), which are leaves or, where they
    are not needed, numbers."""
    op, alpha, parts, (range_, thresholds) = f[0], ("n", f[1]), f[2:], tails
    known = [leaves[part[1]] if part[0] == "leaf" else None for part in parts]
    if any(part[0] == "leaf" and end is None for part, end in zip(parts, known)):
        return None
    lo, hi = range_
    c = [("n", thresholds[part[1]]) if part[0] == "leaf" else None for part in parts]
    if op == "quantile":
        lo = max(lo, c[0][1]) if known[0] and known[0][1] < f[1] else lo
        hi = min(hi, c[1][1]) if known[1] and known[1][0] >= f[1] else hi
        return (lo, hi) if lo <= hi else None
    if known[0]:
        lo = max(lo, interval(("+", c[0], ("/", ("n", known[0][0]), alpha)), ())[0])
    if known[1]:
        (p, most), lack, ends = known[2], ("n", known[1][1]), []
        if p < f[1]:
            rest = ("-", ("n", 1.0), ("/", ("n", p), alpha))
            above = ("*", rest, ("-", ("n", range_[1]), c[1]))
            ends.append(interval(("+", ("+", c[1], ("/", lack, alpha)), above), ())[1])
        if most >= f[1]:
            ends.append(interval(("+", c[1], ("/", lack, ("n", most))), ())[1])
        hi = min(hi, max(ends))
    return (lo, hi) if lo <= hi else None


def interval(f, leaves, tails=None):
    """The formula's, from its leaves'; rounded outwards. `tails`: the range of impacts and the
    leaves' thresholds."""
    if f[0] in ("cvar", "quantile"):
        return tail_interval(f, leaves, tails)
    if f[0] == "n":
        return f[1], f[1]
    if f[0] == "leaf":
        return leaves[f[1]]
    parts = [interval(part, leaves, tails) for part in f[1:]]
    if None in parts or (f[0] == "/" and parts[1][0] <= 0 <= parts[1][1]):
        return None
    (lo, hi), op = parts[0], f[0]
    if op == "neg":
        return -hi, -lo
    if op == "abs":
        return (lo, hi) if lo >= 0 else (-hi, -lo) if hi <= 0 else (0.0, max(-lo, hi))
    if op in ("min", "max"):
        return tuple((min if op == "min" else max)(part[k] for part in parts) for k in (0, 1))
    other = (-parts[1][1], -parts[1][0]) if op == "-" else parts[1]
    whole = {"*": lambda a, b: a * b, "/": lambda a, b: a / b}.get(op, lambda a, b: a + b)
    pairs = [(a, b) for a in (lo, hi) for b in other]
    if op in "+-":
        pairs = [(lo, other[0]), (hi, other[1])]
    ends = [outward(whole(Fraction(a), Fraction(b))) for a, b in pairs]
    return min(end[0] for end in ends), max(end[1] for end in ends)


def needs_of(f, ranges):
    """Ends of leaves, as (leaf, upper), on which the lower end of the formula depends."""
    found = set()

    def scaled(part, by, lower, upper):
        sign = interval(by, ranges) or (-1, 1)
        ends = (lower, upper) if sign[0] >= 0 else (upper, lower)
        mark(part, *(ends if sign[0] >= 0 or sign[1] <= 0 else (True, True)))

    def mark(f, lower, upper):
        op, parts = f[0], f[1:]
        if op == "leaf":
            found.update([(f[1], False)] * lower + [(f[1], True)] * upper)
        elif op in ("neg", "-"):
            mark(parts[-1], upper, lower)
        if op == "*":
            scaled(parts[1], parts[0], lower, upper)
        if op in ("*", "/"):
            scaled(parts[0], parts[1], lower, upper)
        if op == "/":
            mark(parts[1], True, True)
        if op == "abs":
            scaled(parts[0], parts[0], lower, upper)
        for part in parts if op in ("+", "min", "max") else parts[:1] if op == "-" else []:
            mark(part, lower, upper)

    mark(f, True, False)
    return sorted(found)


def expanded(formula, needs, found, leaves):
    """The formula and its needs over `leaves`, which grow: means that bound the needed ends in
    place of tails."""
    out, number = set(), None
    if formula[0] == "-" and sorted(part[0] for part in formula[1:]) == ["leaf", "n"]:
        leaf, other = sorted(formula[1:])  # "leaf" is before "n"
        tail = (found[leaf[1]][4] or (None,) * 3)[2]
        number = other[1] if tail and tail[0] == "quantile" else None

    def add(leaf, ends):
        leaves.extend([leaf] * (leaf not in leaves))
        out.update((leaves.index(leaf), upper) for upper in ends)
        return "leaf", leaves.index(leaf)

    def of_tail(k, leaf, name, alpha):
        def part(of_upper, relation, *ends):
            if (k, of_upper) not in needs:
                return "n", 0.0
            tail = (relation, None, (name, alpha, of_upper))
            return add((*leaf[:4], tail if number is None else (relation, number, None)), ends)
        if name == "cvar":
            lacks = part(False, "min", False), part(True, "min", True)
            return name, alpha, *lacks, part(True, "<", False, True)
        return name, alpha, part(False, "<", True), part(True, "<=", False)

    def of(f):
        if f[0] == "leaf":
            leaf = found[f[1]]
            if leaf[4] and leaf[4][2]:
                return of_tail(f[1], leaf, *leaf[4][2][:2])
            return add(leaf, [upper for upper in (False, True) if (f[1], upper) in needs])
        return f if f[0] == "n" else (f[0], *map(of, f[1:]))

    return of(formula), sorted(out)


def range_of(leaf, impacts):
    """The range of the mean for any data."""
    width = outward(Fraction(impacts[1]) - Fraction(impacts[0]))[1]
    relation = leaf[4][0] if leaf[4] else None
    if relation == "min":
        return -width, 0.0
    if leaf[0] != "impact" or relation not in (None, "tail"):
        return (-1.0, 1.0) if leaf[2] else (0.0, 1.0)
    return (-width, width) if leaf[2] else impacts


def difference_of(formula, needs):
    """a, the mean above, b, the mean below and e of a formula a L1 - b L2 + e, or None."""
    def linear(f):
        op, parts = f[0], f[1:]
        if op in ("n", "leaf"):
            return {None: f[1]} if op == "n" else {f[1]: 1.0}
        if op not in ("neg", "+", "-", "*", "/"):
            return None
        all_parts = [linear(part) for part in parts]
        if None in all_parts:
            return None
        scaled = lambda x, by: {k: v * by for k, v in x.items()}
        if op == "neg":
            return scaled(all_parts[0], -1)
        if op in "+-":
            other = scaled(all_parts[1], -1 if op == "-" else 1)
            return {k: all_parts[0].get(k, 0) + other.get(k, 0) for k in {**all_parts[0], **other}}
        numbers = [part[0] == "n" for part in parts]
        if op == "*" and any(numbers):
            k = numbers.index(True)
            return scaled(all_parts[1 - k], parts[k][1])
        return scaled(all_parts[0], 1 / parts[1][1]) if op == "/" and numbers[1] else None

    form = linear(formula)
    if form is None or len(needs) != 2:
        return None
    e = form.pop(None, 0.0)
    above, below = ([(k, abs(v)) for k, v in form.items() if v * sign > 0] for sign in (1, -1))
    if len(above) != 1 or len(below) != 1:
        return None
    return above[0][1], above[0][0], below[0][1], below[0][0], e


def compiled(expression, impacts):
    """Leaves, their ranges, and of each statement its formula and the ends that it needs."""
    text, means = take_means(expression)
    comparison = ast.parse(re.sub(r"-\((\d[^()]*)\)", r"neg(\1)", text), mode="eval").body
    left, right = formula_of(comparison.left, means), formula_of(comparison.comparators[0], means)
    if isinstance(comparison.ops[0], ast.LtE):
        left, right = right, left
    found, leaves = [], []
    formulas = [paired(part, means, found) for part in split(("-", left, right), True)]
    ranges = [range_of(leaf, impacts) for leaf in found]
    statements = [expanded(f, needs_of(f, ranges), found, leaves) for f in formulas]
    return leaves, [range_of(leaf, impacts) for leaf in leaves], statements


def number_text(x):
    return repr(float(x)).removesuffix(".0")


def leaf_text(leaf):
    what, policy, minus, condition, value = leaf
    relation, threshold, tail = value or (None, None, None)
    rest = f", {policy}" * (policy != "candidate") + f" | {condition}" * bool(condition)
    if tail:
        averaged = "min(impact - c, 0)" if relation == "min" else f"impact {relation} c"
        end = "upper" if tail[2] else "lower"
        return (f"mean({averaged}{rest}), c of the {end} end of "
                f"{tail[0]}(impact, {number_text(tail[1])}{rest})")
    so = f" {relation} {number_text(threshold)}" if relation else ""
    one = lambda name: f"mean({what}{so}" + f", {name}" * (name != "candidate") + \
        f" | {condition}" * bool(condition) + ")"
    return one(policy) + (f" - {one(minus)}" if minus else "")
