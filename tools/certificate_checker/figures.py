"""Figures beside the verdict, computed again from plan and evidence."""
import math
from statistics import NormalDist

from bounds import (lower_betting, moments, need, planned_bets, same, shows_a_gain, width)
from estimates import Estimate, beyond, record_value, unit_sums, widest_loss

NORMAL, MOST_ODDS = NormalDist(), 10.0


def inside(group, lines):
    return [r for r in lines if group["group"] in r["groups"]]


def negated(r):
    return r | {k: -r[k] for k in ("impact", "q1", "q0") if r.get(k) is not None}


def mirrored(config, group):
    """Settings and group of the opposite sign."""
    own = config | {"impact_lo": -config["impact_hi"], "impact_hi": -config["impact_lo"],
                    "margin": -config["margin"]}
    own |= {k: -config[k] for k in ("declined_impact", "at_least") if config.get(k) is not None}
    lo, m = -group["hi"], config.get("records_per_person", 0)
    if m:
        slack = 1e-7 * (config["impact_hi"] - config["impact_lo"])
        least = widest_loss(own, group) - slack
        lo = min(lo, m * min(least, least + own["margin"]))
    centres = {k: -group[k] for k in ("q_approve", "q_decline", "q_refer") if k in group}
    return own, group | centres | {"lo": lo, "hi": -group["lo"]}


def lower_end(config, group, lines, delta):
    """The betting bound of the group at another level, per record."""
    estimates = [Estimate(r, config, group) for r in lines]
    sums = unit_sums(config, group, estimates, config.get("missing_gamma"))
    lo, hi, erased = group["lo"], group["hi"], group.get("erased", 0)
    if not config.get("records_per_person", 0):
        lo = min([-1e-9 * (config["impact_hi"] - config["impact_lo"])] + [u[1] for u in sums])
        hi = max([0.0] + [u[2] for u in sums])
    values = [u[0] for u in sums] + [lo] * erased
    test = planned_bets(len(values), group["plan_variance"], lo, delta, config["bet_cap"])
    bound = lower_betting(values, lo, hi, test, delta)
    return bound * len(values) / (len(lines) + erased) - config["margin"]


def smallest_seen(plan, group, power=0.8):
    """The mean effect per record at which the group passes with this probability."""
    n, erased, lo, delta = group["units"], group.get("erased", 0), group["lo"], plan["delta"]
    variance, bound = group["plan_variance"], plan["config"]["bound"]
    deviation, whole = math.sqrt(variance), n + erased

    def chance(mean, bet, weight):
        up, down = math.log1p(bet * (mean + deviation)), math.log1p(bet * (mean - deviation))
        excess = n * (up + down) / 2 + erased * math.log1p(bet * lo) + math.log(weight * delta)
        spread = math.sqrt(n) * (up - down) / 2
        return NORMAL.cdf(excess / spread) if spread > 0 else 0.0

    def enough(mean):
        most = group["bet_cap"] / -min(lo, mean - deviation)
        return any(chance(mean, min(bet, most), weight) >= power
                   for bet, weight in zip(group["bets"], group["bet_weights"]))

    if group["records"] == 0:
        return None  # all are erased
    if bound == "betting":
        few, seen = 0.0, group["hi"]
        for _ in range(60 * enough(seen)):
            middle = (few + seen) / 2
            few, seen = (few, middle) if enough(middle) else (middle, seen)
        known = enough(seen)
    else:
        short = NORMAL.inv_cdf(power) * math.sqrt(variance / whole)
        short += width(bound, whole, variance, lo, group["hi"], delta)
        seen = (whole * short - erased * lo) / n
        known = seen <= group["hi"]
    return seen * n / group["records"] - plan["config"]["margin"] if known else None


def effects(plan, lines, delta):
    out, config = [], plan["config"]
    for group in plan["groups"]:
        members, (own, other) = inside(group, lines), mirrored(config, group)
        upper = -lower_end(own, other, [negated(r) for r in members], delta)
        out.append({"name": group["name"], "lower": lower_end(config, group, members, delta),
                    "upper": upper, "smallest_seen": smallest_seen(plan, group)})
    return out


def rate(lines, policy, erased, delta, cap):
    """Rate of approval with its ends."""
    persons = {}
    for r in lines:
        persons.setdefault(r["unit"], []).append(r[policy])
    means = [math.fsum(x) / len(x) for x in persons.values()]
    n, worst = len(means) + erased, [-0.5] * erased
    out = {"rate": math.fsum(means) / len(means) if means else 0.0, "lower": 0.0, "upper": 1.0}
    if n < 2:
        return out
    test = planned_bets(n, 1 / 12, -0.5, delta, cap)
    end = lambda v: min(max(0.5 + lower_betting(v + worst, -0.5, 0.5, test, delta), 0.0), 1.0)
    out["lower"] = end([x - 0.5 for x in means])
    return out | {"upper": 1 - end([0.5 - x for x in means])}


def add_ratios(groups, policy):
    """Compares each group with the one of its attribute that has the highest rate."""
    attribute = lambda x: ",".join(p.partition("=")[0] for p in x["name"].split(",") if "=" in p)
    for own in groups:
        others = [x for x in groups if attribute(x) == attribute(own)]
        best = max(others, key=lambda x: x[policy]["rate"])  # the first of the highest
        mine, high = own[policy], best[policy]
        if len(others) < 2:
            continue
        mine["highest"] = best["name"]
        for member, x, y in (("ratio", "rate", "rate"), ("ratio_lower", "lower", "upper"),
                             ("ratio_upper", "upper", "lower")):
            x, y = ("rate", "rate") if best is own else (x, y)
            if high[y] > 0:
                mine[member] = mine[x] / high[y]


def approvals(plan, lines, delta):
    out = []
    for group in (g for g in plan["groups"] if g["against"] == "reference"):
        of = lambda policy: rate(inside(group, lines), policy, group.get("erased", 0), delta,
                                 plan["config"]["bet_cap"])
        out.append({"name": group["name"], "candidate": of("pi"), "reference": of("s")})
    for policy in ("candidate", "reference"):
        add_ratios(out, policy)
    return out


def part_values(config, group, lines):
    """V of each record."""
    estimates = [Estimate(r, config, group) for r in lines]
    gamma = config.get("missing_gamma")
    return [record_value(config, group, e, gamma, beyond(config, group, e))[0] for e in estimates]


def parts(plan, lines):
    config, cells, out = plan["config"], [], []
    halves = any(r.get("second_half", False) for r in lines)
    for k, name in enumerate(("first half", "second half") * halves):
        cells.append((name, lambda r, half=bool(k): r.get("second_half", False) == half))
    for k, name in enumerate(plan["loggers"] if len(plan["loggers"]) > 1 else []):
        cells.append((name, lambda r, logger=k: r["logger"] == logger))
    members = [inside(group, lines) for group in plan["groups"]]
    signs = []
    for group, own in zip(plan["groups"], members if cells else []):
        opposite = part_values(*mirrored(config, group), [negated(r) for r in own])
        signs.append((part_values(config, group, own), opposite))
    for name, holds in cells:
        for group, own, values in zip(plan["groups"], members, signs):
            out.append(part(config, name, group["name"], [holds(r) for r in own], own, values))
    return out


def part(config, name, group, holds, lines, values):
    """A group in a part. `holds`: which of its lines are; `values`: V, and of the other sign."""
    ends = []
    for v in values:
        persons = {}
        for k in (k for k, held in enumerate(holds) if held):
            persons[lines[k]["unit"]] = persons.get(lines[k]["unit"], 0.0) + v[k]
        ends.append(list(persons.values()))
    n = len(ends[0])
    out = {"part": name, "group": group, "records": sum(holds), "persons": n}
    per_record = lambda x: x * n / sum(holds) - config["margin"]
    if n:
        out["estimate"] = per_record(math.fsum(ends[0]) / n)
    for member, sign, v in (("lower", 1, ends[0]), ("upper", -1, ends[1])):
        mean, variance = moments(v) if n > 1 else (0.0, 0.0)
        if variance > 0:
            below = width("student_t", n, variance, 0, 0, config["delta_epoch"] / 2)
            out[member] = per_record(sign * (mean - below))
    return out


class Varied:
    """V of a group's persons, its change with declined_impact, what odds divide and multiply."""

    def __init__(self, plan, group, lines):
        self.plan, self.group, persons, config = plan, group, {}, plan["config"]
        gamma, ends = config.get("missing_gamma"), ("impact_lo", "impact_hi")
        declined = [config | {"declined_impact": config[end]} for end in ends]
        for r in lines:
            e = Estimate(r, config, group)
            least = beyond(config, group, e)
            value, cut = record_value(config, group, e, gamma, least)
            person = persons.setdefault(r["unit"], [0.0] * 4)
            person[0] += value
            if config["declined_impact"] is not None and not cut:
                of = [Estimate(r, other, group) for other in declined]
                low, high = (x.least() if least else x.value(gamma) for x in of)
                person[1] += (high - low) / (e.b - e.a)
            if not least and not config.get("max_weight"):
                drawn = {"p": float(e.drawn == 1), "p_refer": float(e.drawn == 2)}
                term = e.value(gamma) - Estimate(r | drawn, config, group).value(gamma)
                person[2 if term > 0 else 3] += term
        self.persons = list(persons.values())

    def passes(self, value_of):
        """With the plan's bets, and a range that grows where values leave it."""
        group = self.group
        values = [group["lo"]] * group.get("erased", 0) + [value_of(*p) for p in self.persons]
        lo, hi = min(values + [group["lo"]]), max(values + [group["hi"]])
        bound = self.plan["config"]["bound"]
        return shows_a_gain(bound, values, lo, hi, self.plan["delta"], group)


def reach(start, far, same_verdict):
    """The value nearest to `far` that 8 steps and 7 halvings reach with the same verdict."""
    kept = start
    for i in range(1, 9):
        end = far if i == 8 else start + i * ((far - start) / 8)
        if same_verdict(end):
            kept = end
            continue
        for _ in range(7):
            middle = (kept + end) / 2
            kept, end = (middle, end) if same_verdict(middle) else (kept, middle)
        break
    return kept


def sensitivity(plan, lines, certified):
    config, out = plan["config"], {}
    missing = any(g["missing_outcomes"] for g in plan["groups"])
    if certified and missing and config.get("missing_gamma") is None:
        out["tipping_gamma"] = float(config["impact_hi"] - config["impact_lo"])
    odds, declared = certified and not config.get("max_weight"), config["declined_impact"]
    if not odds and declared is None:
        return out
    groups = [Varied(plan, group, inside(group, lines)) for group in plan["groups"]]
    all_pass = lambda value_of: all(group.passes(value_of) for group in groups)
    if odds:
        at_odds = lambda f: all_pass(lambda v, _, gain, loss: v - gain - loss + gain / f + loss * f)
        passing, failing = (MOST_ODDS,) * 2 if at_odds(MOST_ODDS) else (1.0, MOST_ODDS)
        for _ in range(10 * (passing < failing)):
            middle = math.sqrt(passing * failing)
            passing, failing = (middle, failing) if at_odds(middle) else (passing, middle)
        out["odds_factor"] = passing
    if declared is not None:
        at = lambda impact: all_pass(lambda v, change, *_: v + change * (impact - declared))
        now = at(declared)
        for member, end in (("declined_from", "impact_lo"), ("declined_to", "impact_hi")):
            out[member] = float(reach(declared, config[end], lambda impact: at(impact) == now))
    return out


def check_figures(c, lines):
    """Rejects figures that do not follow from plan and evidence."""
    figures, plan = c.get("figures"), c["plan"]
    if figures is None:
        return  # an older certificate
    config, ends = plan["config"], 2 * len(plan["groups"])
    reference = sum(g["against"] == "reference" for g in plan["groups"])
    delta, rate_delta = config["delta_epoch"] / ends, config["delta_epoch"] / (4 * reference)
    alone = [r["unit"] for r in lines if not r["groups"]]
    computed = {"effects": effects(plan, lines, delta),
                "sensitivity": sensitivity(plan, lines, c["verdict"] == "CERTIFIED"),
                "parts": parts(plan, lines)}
    rates = {"effect_delta": delta, "rate_delta": rate_delta,
             "approvals": approvals(plan, lines, rate_delta),
             "ungrouped_records": len(alone), "ungrouped_persons": len(set(alone))}
    rates = {k: v for k, v in rates.items() if v}  # what is empty is left out
    computed = {k: v for k, v in computed.items() if v}
    need(figures.keys() == {**rates, **computed}.keys(), "the list of figures")
    same({k: figures[k] for k in rates}, rates, "figures", 1)
    same({k: figures[k] for k in computed}, computed, "figures",
         config["impact_hi"] - config["impact_lo"])
