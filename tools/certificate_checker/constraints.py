"""Plans and results of a certificate's constraints, computed again from the evidence."""
import heapq
import math
import re

from bounds import INF, log_wealth, near, need, planned_bets, same, shows_a_gain
from constraint_language import POLICIES, compiled, difference_of, interval, leaf_text
from estimates import REFER_OF, Estimate, is_due, knows_declines, largest_change
from settings import MAX_CONDITIONS


class Mean:
    """A leaf on the evidence."""

    def __init__(self, leaf, config, conditions, lines, plan, erased):
        self.what, self.policy, self.minus, condition, value = leaf
        self.relation, threshold, tail = value or (None, None, None)
        need(("threshold" in plan) == (tail is not None), "the threshold of a tail")
        self.threshold = plan.get("threshold", threshold)
        self.declared = config["impact_lo"], config["impact_hi"]
        within = not tail or self.declared[0] <= self.threshold <= self.declared[1]
        need(within, "the threshold of a tail")
        self.config, self.plan, self.erased = config, plan, erased
        self.declined = self.averaged(config["declined_impact"])
        words = re.sub(r'"(?:[^"\\]|\\.)*"|`[^`]*`', "", condition)
        labelled = self.what in ("label", "loss", "decision * label")
        self.by_label = labelled or "label" in re.findall(r"\w+", words)
        self.weighted = self.by_label and config.get("labels_of", "granted") == "granted"
        self.impact_by_label = self.weighted and self.what == "impact"
        self.of_impact = self.what == "impact" and not self.impact_by_label
        alone = knows_declines(config) and not config.get("referrals", False)
        need(not self.impact_by_label or alone, "an impact by label")
        mask = lambda r: r["conditions"][conditions.index(condition)] if condition else 3
        self.members = [(r, mask(r)) for r in lines if mask(r)]
        self.records = config.get("records_per_person", 0)
        self.impacts = tuple(sorted(map(self.averaged, self.declared)))

    def averaged(self, impact):
        """What the mean is of, of an impact."""
        c = self.threshold
        if impact is None or self.relation is None:
            return impact
        if self.relation == "min":
            return min(impact - c, 0.0)
        holds = {"<": impact < c, "<=": impact <= c, ">": impact > c, ">=": impact >= c}
        return float(holds[self.relation])

    def estimate(self, r, upper):
        sign = -1 if upper else 1
        lo, hi = self.impacts[::sign]
        config = {"impact_lo": sign * lo, "impact_hi": sign * hi, "kappa": 1,
                  "trust_region": "approvals",
                  "declined_impact": None if self.declined is None else sign * self.declined,
                  "declines_overridden": self.config.get("declines_overridden", False)}
        base = POLICIES[self.minus] if self.minus else None
        if not self.minus:
            config["at_least"] = 0
        drawn = {k: v for k, v in r.items() if k not in ("q1", "q0")}
        drawn |= {"pi": r[POLICIES[self.policy]], "s": r[base] if base else 0,
                  "pi_refer": r.get(REFER_OF[POLICIES[self.policy]], 0),
                  "s_refer": r.get(REFER_OF[base], 0) if base else 0,
                  "impact": None if r["impact"] is None else sign * self.averaged(r["impact"])}
        centres = {k: sign * self.plan.get(k, 0) for k in ("q_approve", "q_decline", "q_refer")}
        return Estimate(drawn, config, {"against": "reference"} | centres)

    def approval(self, r):
        return r[POLICIES[self.policy]] - (r[POLICIES[self.minus]] if self.minus else 0)

    def given_label(self, r, granted):
        change = self.approval(r)
        rest = -change if self.minus else 1 - change
        return change * granted + rest * self.declined

    def weight(self, r):
        return 1 / r["p"] if self.weighted and not self.heavy(r) else 1

    def heavy(self, r):
        most = self.plan["max_weight"] * r["p"]
        return self.records > 0 and self.weighted and not self.records <= most

    def beyond(self, r):
        if not self.of_impact:
            return self.heavy(r)
        ends = (False, self.plan["lo"]), (True, -self.plan["hi"])
        return self.records > 0 and any(self.estimate(r, up).leaves(end) for up, end in ends)

    def possible(self, whole_range):
        """The range of the expectation of v for any features."""
        (a, b), config = self.impacts, self.config
        if self.what != "impact" or not self.minus:
            return (a, b) if self.what == "impact" else whole_range
        known = knows_declines(config) and not config.get("referrals", False)
        bounded = POLICIES[self.policy] == "pi" and POLICIES[self.minus] == "s"
        change = largest_change(config) if bounded else 1
        worst = change * (max(b - self.declined, self.declined - a) if known else b - a)
        return -worst, worst

    def impact_matters(self, r):
        return self.what == "impact" and is_due(r, self.declined)

    def check_plan(self, where, whole_range):
        """The part of the plan that follows from the evidence without outcomes."""
        supported = lambda r: not self.of_impact or self.estimate(r, False).supported
        holds = all(r["p"] > 0 if self.weighted else supported(r) for r, _ in self.members)
        need(self.records or holds, where + "support")
        told = lambda r: r["approved"] or not self.weighted or self.heavy(r)
        self.told = [(r, mask) for r, mask in self.members if told(r)]
        due = [r for r, _ in self.told if not self.heavy(r)]
        gone = lambda r: self.impact_matters(r) and r["impact"] is None
        expected = sum(self.by_label or self.impact_matters(r) for r in due)
        missing = sum((self.by_label and "label" not in r) or gone(r) for r in due)
        persons = lambda part: len({r["unit"] for r, _ in part})
        counts = {"records": len(self.members), "units": persons(self.told), "erased": self.erased,
                  "expected_outcomes": expected, "missing_outcomes": missing,
                  "persons": persons(self.members) if self.records else 0,
                  "beyond_range": sum(self.beyond(r) for r, _ in self.members)}
        same({k: self.plan.get(k, 0) for k in counts}, counts, where + "counts")
        self.check_centres(where)
        self.check_ranges(where, whole_range)
        erased = self.erased if expected else 0
        self.enough = missing + erased <= self.config["max_missing_rate"] * (expected + erased)
        units = self.planned_units()
        likely = min(units, math.floor(units * self.plan["selection_share"]))
        need(likely >= self.config["min_units"] and (self.records or self.enough),
             where + "too few persons or outcomes")

    def planned_units(self):
        if not self.records:
            return self.plan["units"]
        return int(self.plan["selection_known"] * (self.plan["persons"] + self.erased))

    def check_centres(self, where):
        plan, config = self.plan, self.config
        none = (plan["q_approve"], plan["q_decline"]) == (0, 0)
        known = self.of_impact and knows_declines(config)
        refers = self.of_impact and config.get("referrals", False)
        need(self.of_impact or none, where + "centres")
        need(refers or not plan.get("q_refer", 0), where + "centres")
        need(not known or plan["q_decline"] == self.declined, where + "centres")

    def check_ranges(self, where, whole_range):
        plan, weights, ends = self.plan, {}, []
        if self.records:
            least, most = self.possible(whole_range)
            holds = plan["lo"] <= least and plan["hi"] >= most
            return need(holds and plan["max_weight"] >= self.records, where + "ranges")
        for r, _ in self.members:
            weights[r["unit"]] = weights.get(r["unit"], 0) + self.weight(r)
            if self.of_impact:
                ends += self.estimate(r, False).range()
            elif self.impact_by_label:
                ends += [self.given_label(r, x) for x in self.impacts]
        lo, hi = (min(ends), max(ends)) if self.what == "impact" else whole_range
        for member, figure in (("lo", lo), ("hi", hi), ("max_weight", max(weights.values()))):
            near(plan[member], figure, where + member)

    def value(self, r, label, upper):
        sign, change, impact = -1 if upper else 1, self.approval(r), r["impact"]
        within = impact is None or self.declared[0] <= impact <= self.declared[1]
        need(within or not self.impact_matters(r), "an impact out of its range")
        if self.impact_by_label:
            worst = self.impacts[(change > 0) == upper]
            return sign * self.given_label(r, worst if impact is None else self.averaged(impact))
        if self.what == "impact":
            lo, hi = self.ends(upper)
            e = self.estimate(r, upper)
            least = self.records and e.leaves(lo)
            return min(max(e.least() if least else e.value(None), lo), hi)
        if self.what == "loss":
            return sign * ((change if label != 1 else -change) + (label == 1 and not self.minus))
        of = {"label": label, "decision": change, "decision * label": change * label}
        return sign * of[self.what]

    def ends(self, upper):
        lo, hi = self.plan["lo"], self.plan["hi"]
        return (-hi, -lo) if upper else (lo, hi)

    def sums(self, upper, doubled=()):
        """N and D of each person who tells something. Those of `doubled`, and erased ones then,
        count twice the worst."""
        persons, twice, worst = {}, 1 if doubled == () else 2, self.ends(upper)[0]
        for r, mask in self.told:
            if r["unit"] in doubled:
                continue
            person, label, v = persons.setdefault(r["unit"], [0.0, 0.0]), r.get("label"), worst
            if not self.heavy(r) and (not self.by_label or label is not None):
                need(not self.by_label or label in (0, 1), "a label")
                if self.by_label and not mask & (2 if label == 1 else 1):
                    continue
                v = self.value(r, label if self.by_label else 0, upper)
            person[0] += self.weight(r) * v
            person[1] += self.weight(r)
        most = twice * self.plan["max_weight"]
        return list(persons.values()) + [[most * worst, most]] * (self.erased + len(doubled))

    def loss(self, upper):
        """The most that a person can count against an end at the mean of D_c, and its scale."""
        plan = self.plan
        scale = plan["max_weight"] * (plan["hi"] - plan["lo"])
        mean = plan["selection_mean"]
        above = plan["hi"] - mean if upper else mean - plan["lo"]
        return min(max(plan["max_weight"] * above, 1e-6 * scale), scale), scale

    def bets(self, upper, delta, cap):
        if not self.plan["hi"] > self.plan["lo"]:  # the mean is known without a test
            return {"bets": [0] * 3, "bet_weights": [0] * 3, "bet_cap": 0}
        loss, scale = self.loss(upper)
        variance = max(self.plan["selection_variance"], 1e-6 * scale * scale)
        return planned_bets(max(2, self.planned_units()), variance, -loss, delta, cap)

    def end(self, upper, test, bound):
        """Estimate and bound of an end; minus infinity: there is none."""
        persons, (m, other), w = self.sums(upper), self.ends(upper), self.plan["max_weight"]
        d, sign = math.fsum(x[1] for x in persons), -1 if upper else 1
        if not d > 0:
            return -INF, -INF
        estimate = math.fsum(x[0] for x in persons) / d
        if len(persons) < 2:
            return sign * estimate, -INF

        def rejected(theta):
            v, slack = [n - theta * k for n, k in persons], 1e-12 * w * (other - m)
            lo, hi = -w * (theta - m) - slack, w * max(0.0, other - theta) + slack
            return min(v) >= lo and shows_a_gain(bound, v, lo, hi, test["delta"], test)

        precision = 1e-7 * (other - m)
        if not other > m or estimate <= m or not rejected(m + precision):
            return sign * estimate, sign * m
        safe, unsafe = m + precision, max(estimate, m + precision)
        while unsafe - safe > precision:
            middle = safe + (unsafe - safe) / 2
            if not safe < middle < unsafe:
                break  # a range as narrow as rounding
            safe, unsafe = (middle, unsafe) if rejected(middle) else (safe, middle)
        return sign * estimate, sign * safe


class Difference:
    """A statement a L1 - b L2 + e >= 0, tested by one process."""

    def __init__(self, plan, recorded, form, means, tests, lines):
        self.plan, self.recorded, self.form, self.means = plan, recorded, form, means
        self.tests = {test["upper"]: test for test in tests}
        self.persons = len({r["unit"] for r in lines}) + plan.get("erased", 0)

    def check(self, where, said):
        """Checks plan and result; returns ln of the smallest wealth."""
        need(self.form is not None and self.plan["config"]["bound"] == "betting", where)
        a, above, b, below, e = self.form
        plan = {"statement": self.recorded["statement"], "above": above, "below": below,
                "a": float(a), "b": float(b), "e": float(e), "persons": self.persons}
        same(self.recorded, plan, where)
        self.sides = (self.means[above], False, a), (self.means[below], True, b)
        for mean, *_ in self.sides:
            leaf = mean.plan
            usable = leaf.get("person_weight", 0) > 0 and leaf.get("person_units", 0) > 0
            need(usable and leaf["hi"] > leaf["lo"], where + "person_weight")
        self.check_bets(where)
        for test, end in zip(self.tests.values(), said["ends"], strict=True):
            mean = self.means[test["mean"]]
            sums = mean.sums(test["upper"])
            weight = math.fsum(x[1] for x in sums)
            sign = -1 if test["upper"] else 1
            estimate = sign * math.fsum(x[0] for x in sums) / weight if weight > 0 else -INF
            scale = mean.plan["hi"] - mean.plan["lo"]
            near(end["estimate"], estimate, where + "estimate", scale)
            need(end["bound"] is None, where + "bound")
        need(said["lower"] is None, where + "lower")
        wealth = self.smallest_log_wealth()
        near(said["log_wealth"], wealth, where + "log_wealth", 1)
        return wealth

    def check_bets(self, where):
        error = 0.0
        for mean, upper, factor in self.sides:
            leaf, (_, scale) = mean.plan, mean.loss(upper)
            v = max(leaf["selection_variance"], 1e-6 * scale * scale)
            error += v * leaf["person_units"] * (factor / leaf["person_weight"]) ** 2 / self.persons
        for mean, upper, factor in self.sides:
            test, delta = self.tests[upper], self.plan["delta"]
            weight = self.persons * mean.plan["person_weight"] / factor
            near(test["delta"], delta, where + "delta")
            bets = planned_bets(2, weight * weight * error / 2, -2 * mean.loss(upper)[0], delta,
                                self.plan["config"]["bet_cap"])
            same({k: test[k] for k in bets}, bets, where)

    def smallest_log_wealth(self):
        (first, _, a), (second, _, b) = self.sides
        e, units = self.form[4], [{r["unit"] for r, _ in mean.members} for mean, *_ in self.sides]
        both = units[0] & units[1]
        sums = [mean.sums(upper, both) for mean, upper, _ in self.sides]
        ends = first.ends(False), second.ends(True)

        def at(k, theta):
            (lo, hi), most, test = ends[k], self.sides[k][0].plan["max_weight"], self.tests[k == 1]
            least = -2 * most * (theta - lo) - 1e-12 * most * (hi - lo)
            values = [n - theta * d for n, d in sums[k]]
            if not values or least >= 0 or min(values) < least:
                return -INF
            return log_wealth([(x, 1) for x in values], test, least, 0)

        def second_at(m):
            scale = a * abs(m) + abs(e) + b * abs(ends[1][0])
            return at(1, -(a * m + e - 1e-12 * scale) / b)

        start, extent = ends[0][0], ends[0][1] - ends[0][0]
        end = min(ends[0][1], (-b * ends[1][0] - e) / a) + 1e-9 * extent
        need(end > start, "a difference that says nothing")
        piece = lambda x, y, low, high: (low + high, x, y, low, high)
        pieces = [piece(start, end, second_at(start), at(0, end))]
        while len(pieces) < 400 and pieces[0][2] - pieces[0][1] > 1e-7 * extent:
            _, x, y, low, high = heapq.heappop(pieces)
            middle = x + (y - x) / 2
            heapq.heappush(pieces, piece(x, middle, low, at(0, middle)))
            heapq.heappush(pieces, piece(middle, y, second_at(middle), high))
        return pieces[0][0]


def check_thresholds(where, leaves, means):
    """Means of one end of a tail have one threshold."""
    chosen = {}
    for leaf, mean in zip(leaves, means):
        if leaf[4] and leaf[4][2]:
            key = leaf[1], leaf[3], leaf[4][2]
            need(chosen.setdefault(key, mean.threshold) == mean.threshold, where + "threshold")


def check_statement(plan, where, needs, tests, said, means, ranges, formula):
    """Checks bets and result of a statement by intervals of its means; returns its lower end."""
    config, known = plan["config"], list(ranges)
    need("log_wealth" not in said, where + "log_wealth")
    for (k, upper), test, end in zip(needs, tests, said["ends"], strict=True):
        mean = means[k]
        near(test["delta"], plan["delta"] / len(needs), where + "delta")
        bets = mean.bets(upper, plan["delta"] / len(needs), config["bet_cap"])
        same({k: test[k] for k in bets}, bets, where)
        estimate, bound = mean.end(upper, test, config["bound"])
        scale = mean.plan["hi"] - mean.plan["lo"]
        near(end["estimate"], estimate, where + "estimate", scale)
        near(end["bound"], bound, where + "bound", scale)
        lo, hi = known[k] or (INF, -INF)
        lo, hi = (lo, min(hi, bound)) if upper else (max(lo, bound), hi)
        known[k] = (lo, hi) if lo <= hi and bound > -INF else None
    impacts = config["impact_lo"], config["impact_hi"]
    lower = (interval(formula, known, (impacts, [mean.threshold for mean in means])) or (-INF,))[0]
    scale = max(1, *(abs(x) for pair in [impacts, *ranges] for x in pair))
    near(said["lower"], lower, where + "lower", scale)
    return lower


def check_constraint(plan, program, recorded, result, conditions, lines):
    leaves, ranges, statements = program
    where, erased = f"constraint {recorded['name']}: ", plan.get("erased", 0)
    need(recorded["means"] == [leaf_text(leaf) for leaf in leaves], where + "means")
    means = [Mean(leaf, plan["config"], conditions, lines, leaf_plan, erased)
             for leaf, leaf_plan in zip(leaves, recorded["mean_plans"], strict=True)]
    for mean, whole in zip(means, ranges):
        mean.check_plan(where, whole)
    check_thresholds(where, leaves, means)
    differences = {x["statement"]: x for x in recorded.get("differences", [])}
    need(len(differences) == len(recorded.get("differences", [])), where + "differences")
    need(all(0 <= k < len(statements) for k in differences), where + "differences")
    parts = zip(statements, recorded["statements"], result["statements"], strict=True)
    for k, ((formula, needs), tests, said) in enumerate(parts):
        need([(test["mean"], test["upper"]) for test in tests] == needs, where + "ends")
        enough = all(means[leaf].enough for leaf, _ in needs)
        if k in differences:
            form = difference_of(formula, needs)
            difference = Difference(plan, differences[k], form, means, tests, lines)
            holds = difference.check(where, said) >= -math.log(plan["delta"])
        else:
            holds = check_statement(plan, where, needs, tests, said, means, ranges, formula) >= 0
        need(said["passed"] is (holds and enough), where + "passed")
    passed = all(said["passed"] for said in result["statements"])
    need(result["passed"] is passed, where + "passed")


def check_constraints(plan, results, lines):
    config, conditions, recorded = plan["config"], [], plan.get("constraint_plans", [])
    names = [[x["name"] for x in part] for part in (results, recorded)]
    declared = [x["name"] for x in config.get("constraints", [])]
    need(names == [declared] * 2, "the constraints")
    impacts = config["impact_lo"], config["impact_hi"]
    programs = [compiled(one["expression"], impacts) for one in recorded]
    for leaf in (leaf for program in programs for leaf in program[0]):
        conditions += [leaf[3]] * (leaf[3] != "" and leaf[3] not in conditions)
    met = [r.get("conditions", []) for r in lines]
    one_each = all(len(x) == len(conditions) for x in met)
    need(len(conditions) <= MAX_CONDITIONS, "the number of conditions")
    need(one_each and all(k in (0, 1, 2, 3) for x in met for k in x), "the conditions")
    for program, one, result in zip(programs, recorded, results, strict=True):
        check_constraint(plan, program, one, result, conditions, lines)
