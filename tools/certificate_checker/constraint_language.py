"""The language of a certificate's constraints: which means have to be bounded, and what follows from their bounds.

Reads the expression as the claim words it. A leaf is a mean: (quantity, policy, the policy whose mean is taken off or
None, condition). A formula is ("n", number), ("leaf", index) or (operation, formula, ...); an interval is (lo, hi), or
None where nothing is known.
"""
import ast, math, re
from fractions import Fraction

MEAN = re.compile(r"(impact|label|decision \* label|decision|loss)(?:, (reference|anchor))?(?: \| (.*))?", re.DOTALL)
POLICIES = {"candidate": "pi", "reference": "s", "anchor": "anchor"}


def take_means(text):
    """The expression with names in place of its means, and the means."""
    out, means, at = "", [], 0
    while (start := text.find("mean(", at)) >= 0:
        end, depth = start + 5, 1
        while depth:
            if text[end] in "\"`":  # a text, or a name in backticks
                quote, end = text[end], end + 1
                while text[end] != quote:
                    end += 2 if quote == '"' and text[end] == "\\" else 1
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        what, policy, condition = MEAN.fullmatch(text[start + 5:end - 1]).groups()
        means.append((what, policy or "candidate", None, condition or ""))
        out, at = out + text[at:start] + f"_{len(means) - 1}", end
    return out + text[at:], means


def formula_of(node, means):
    if isinstance(node, ast.Constant):
        return "n", float(node.value)
    if isinstance(node, ast.Name):
        return "leaf", means.index(means[int(node.id[1:])])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return ("n", -node.operand.value) if isinstance(node.operand, ast.Constant) else ("neg", formula_of(node.operand, means))
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
        return [(op, x, y) for x in split(parts[0], lower) for y in split(parts[1], lower == (op == "+"))]
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


def paired(f, means, leaves):
    """The formula with two means of a sum that differ in sign and policy alone as one leaf, over `leaves`, which grow."""
    def leaf(value):
        leaves.extend([value] * (value not in leaves))
        return "leaf", leaves.index(value)

    def flat(f, minus):
        if f[0] in "+-":
            return flat(f[1], minus) + flat(f[2], minus != (f[0] == "-"))
        return flat(f[1], not minus) if f[0] == "neg" else [[minus, means[f[1]] if f[0] == "leaf" else None, f]]

    if f[0] not in ("leaf", "+", "-", "neg"):
        return f if f[0] == "n" else (f[0], *(paired(part, means, leaves) for part in f[1:]))
    terms, out, order = flat(f, False), None, list(POLICIES)
    for i, term in enumerate(terms):
        for other in terms[i + 1:] if term and term[1] else []:
            if not other or not other[1] or other[0] == term[0] or (other[1][0], other[1][3]) != (term[1][0], term[1][3]):
                continue
            j, policies = terms.index(other, i + 1), sorted((term[1][1], other[1][1]), key=order.index)
            in_order, terms[j] = policies[0] == term[1][1], None
            terms[i] = None if policies[0] == policies[1] else [term[0] == in_order, (term[1][0], *policies, term[1][3]), None]
            break
    for minus, mean, other in filter(None, terms):
        part = leaf(mean) if mean else paired(other, means, leaves)
        out = (("neg", part) if minus else part) if out is None else ("-" if minus else "+", out, part)
    return out or ("n", 0.0)


def outward(exact):
    number = float(exact)
    return number if Fraction(number) <= exact else math.nextafter(number, -math.inf), number if Fraction(number) >= exact else math.nextafter(number, math.inf)


def interval(f, leaves):
    """Of the formula, from its leaves'; rounded outwards."""
    if f[0] == "n":
        return f[1], f[1]
    if f[0] == "leaf":
        return leaves[f[1]]
    parts = [interval(part, leaves) for part in f[1:]]
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
    pairs = [(lo, other[0]), (hi, other[1])] if op in "+-" else [(a, b) for a in (lo, hi) for b in other]
    ends = [outward(Fraction(a) + Fraction(b) if op in "+-" else Fraction(a) * Fraction(b) if op == "*" else Fraction(a) / Fraction(b))
            for a, b in pairs]
    return min(end[0] for end in ends), max(end[1] for end in ends)


def needs_of(f, ranges):
    """Ends of leaves, as (leaf, upper), on which the lower end of the formula depends."""
    found = set()

    def scaled(part, by, lower, upper):
        sign = interval(by, ranges) or (-1, 1)
        mark(part, *((lower, upper) if sign[0] >= 0 else (upper, lower) if sign[1] <= 0 else (True, True)))

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


def compiled(expression, impacts):
    """Leaves, their ranges, and of each statement its formula and the ends that it needs."""
    text, means = take_means(expression)
    comparison = ast.parse(re.sub(r"-\((\d[^()]*)\)", r"neg(\1)", text), mode="eval").body
    left, right = formula_of(comparison.left, means), formula_of(comparison.comparators[0], means)
    if isinstance(comparison.ops[0], ast.LtE):
        left, right = right, left
    leaves = []
    formulas = [paired(part, means, leaves) for part in split(("-", left, right), True)]
    width = outward(Fraction(impacts[1]) - Fraction(impacts[0]))[1]
    ranges = [((-width, width) if leaf[2] else impacts) if leaf[0] == "impact" else (-1.0, 1.0) if leaf[2] else (0.0, 1.0) for leaf in leaves]
    return leaves, ranges, [(f, needs_of(f, ranges)) for f in formulas]


def leaf_text(leaf):
    what, policy, minus, condition = leaf
    one = lambda name: f"mean({what}" + f", {name}" * (name != "candidate") + f" | {condition}" * bool(condition) + ")"
    return one(policy) + (f" - {one(minus)}" if minus else "")
