"""Effects, rates of approval, parts and counts beside the verdict, computed again from evidence.

Not computed again: smallest_seen, and declined_from, declined_to and odds_factor.
"""
import math


def bets_for(n, variance, lo, delta, cap):
    best = math.sqrt(-2 * math.log(delta) / (n * variance))
    return {"bets": [min(cap / -lo, k * best) for k in (0.4, 1.0, 2.5)],
            "bet_weights": [0.15, 0.7, 0.15], "bet_cap": cap}


def lower_betting(tools, v, lo, hi, test, delta):
    """The recipe's lower_betting, of the mean of v."""
    needed, masses, cells = -math.log(delta), {}, 4096
    for x in v:
        place = (x - lo) / (hi - lo) * cells
        cell = min(int(place), cells - 1)
        for k, mass in ((cell, 1 - (place - cell)), (cell + 1, place - cell)):
            masses[k] = masses.get(k, 0) + mass
    points = [(lo + k * ((hi - lo) / cells), mass) for k, mass in masses.items()]
    below, above = lo, math.fsum(v) / len(v)
    for _ in range(44):
        middle = below + (above - below) / 2
        if middle > lo and tools.log_wealth(points, test, lo, middle) >= needed:
            below = middle
        else:
            above = middle
    shown = tools.log_wealth([(x, 1) for x in v], test, lo, 0) >= needed
    return max(below, 0.0) if shown else below


def negated(r):
    return r | {k: -r[k] for k in ("impact", "q1", "q0") if r.get(k) is not None}


def mirrored(tools, config, group):
    """Settings and group of the opposite sign."""
    own = config | {"impact_lo": -config["impact_hi"], "impact_hi": -config["impact_lo"],
                    "margin": -config["margin"]}
    own |= {k: -config[k] for k in ("declined_impact", "at_least") if config.get(k) is not None}
    lo, m = -group["hi"], config.get("records_per_person", 0)
    if m:
        slack = 1e-7 * (config["impact_hi"] - config["impact_lo"])
        least = tools.widest_loss(own, group) - slack
        lo = min(lo, m * min(least, least + own["margin"]))
    centres = {k: -group[k] for k in ("q_approve", "q_decline", "q_refer") if k in group}
    return own, group | centres | {"lo": lo, "hi": -group["lo"]}


def lower_end(tools, config, group, lines, delta):
    """lower_betting of the group at another level, per record."""
    estimates = [tools.Estimate(r, config, group) for r in lines]
    sums = tools.unit_sums(config, group, estimates, config.get("missing_gamma"))
    lo, hi, erased = group["lo"], group["hi"], group.get("erased", 0)
    if not config.get("records_per_person", 0):
        lo = min([-1e-9 * (config["impact_hi"] - config["impact_lo"])] + [u[1] for u in sums])
        hi = max([0.0] + [u[2] for u in sums])
    values = [u[0] for u in sums] + [lo] * erased
    test = bets_for(len(values), group["plan_variance"], lo, delta, config["bet_cap"])
    bound = lower_betting(tools, values, lo, hi, test, delta)
    return bound * len(values) / (len(lines) + erased) - config["margin"]


def rates(tools, lines, policy, erased, delta, cap):
    """Rate of approval with its ends."""
    persons = {}
    for r in lines:
        persons.setdefault(r["unit"], []).append(r[policy])
    means = [math.fsum(x) / len(x) for x in persons.values()]
    n, worst = len(means) + erased, [-0.5] * erased
    rate = math.fsum(means) / len(means) if means else 0.0
    if n < 2:
        return rate, 0.0, 1.0
    test = bets_for(n, 1 / 12, -0.5, delta, cap)
    end = lambda v: min(max(0.5 + lower_betting(tools, v + worst, -0.5, 0.5, test, delta), 0), 1)
    return rate, end([x - 0.5 for x in means]), 1 - end([0.5 - x for x in means])


def check_ratios(tools, recorded, names):
    attribute = lambda name: ",".join(x.partition("=")[0] for x in name.split(",") if "=" in x)
    for policy in ("candidate", "reference"):
        for name, own in zip(names, recorded):
            group = [x for x in recorded if attribute(x["name"]) == attribute(name)]
            said = own[policy]
            best = max(group, key=lambda x: x[policy]["rate"])  # the first of the highest
            alone, high = len(group) < 2, best[policy]
            tools.need(said.get("highest", "") == ("" if alone else best["name"]), "highest")
            pairs = (("rate", "rate"), ("lower", "upper"), ("upper", "lower"))
            for k, (x, y) in enumerate(pairs):
                member = ("ratio", "ratio_lower", "ratio_upper")[k]
                x, y = ("rate", "rate") if best is own else (x, y)
                known = not alone and high[y] > 0
                tools.need((said.get(member) is not None) == known, member)
                if known:
                    tools.near(said[member], said[x] / high[y], member)


def check_end(tools, config, group, lines, end, level, where):
    """An end of a part, by Student's t."""
    estimates = [tools.Estimate(r, config, group) for r in lines]
    sums = tools.unit_sums(config, group, estimates, config.get("missing_gamma"))
    v = [u[0] for u in sums]
    mean, variance = tools.moments(v) if len(v) > 1 else (0, 0)
    tools.need((end is None) == (variance == 0), where)
    if end is not None:
        bound = (end + config["margin"]) * len(lines) / len(v)
        t = (mean - bound) / math.sqrt(variance / len(v))
        tools.need(abs(tools.t_distribution(t, len(v)) - (1 - level)) < 1e-8, where)
    return math.fsum(v) / len(lines) - config["margin"] if v else None


def check_parts(tools, plan, figures, lines):
    config, level, parts = plan["config"], plan["config"]["delta_epoch"] / 2, []
    if any(r.get("second_half", False) for r in lines):
        for k, name in enumerate(("first half", "second half")):
            parts.append((name, [r for r in lines if r.get("second_half", False) == bool(k)]))
    if len(plan["loggers"]) > 1:
        for k, name in enumerate(plan["loggers"]):
            parts.append((name, [r for r in lines if r["logger"] == k]))
    cells = [(name, group, [r for r in members if group["group"] in r["groups"]])
             for name, members in parts for group in plan["groups"]]
    for (name, group, members), said in zip(cells, figures.get("parts", []), strict=True):
        where = f"part {name} of group {group['name']}"
        counts = len(members), len({r["unit"] for r in members})
        recorded = said["part"], said["group"], said["records"], said["persons"]
        tools.need(recorded == (name, group["name"], *counts), where)
        mean = check_end(tools, config, group, members, said.get("lower"), level, where)
        tools.need((said.get("estimate") is None) == (mean is None), where)
        if mean is not None:
            scale = config["impact_hi"] - config["impact_lo"]
            tools.near(said["estimate"], mean, where, scale)
        upper = said.get("upper")
        own, other = mirrored(tools, config, group)
        check_end(tools, own, other, [negated(r) for r in members],
                  None if upper is None else -upper, level, where)


def check_figures(tools, c, lines):
    """Rejects figures that do not follow from plan and evidence."""
    figures, plan = c.get("figures"), c["plan"]
    if figures is None:
        return  # an older certificate
    config, groups, near, need = plan["config"], plan["groups"], tools.near, tools.need
    reference = [g for g in groups if g["against"] == "reference"]
    near(figures["effect_delta"], config["delta_epoch"] / (2 * len(groups)), "effect_delta")
    near(figures["rate_delta"], config["delta_epoch"] / (4 * len(reference)), "rate_delta")
    names = [g["name"] for g in groups]
    need([x["name"] for x in figures["effects"]] == names, "effects")
    scale = config["impact_hi"] - config["impact_lo"]
    inside = lambda g: [r for r in lines if g["group"] in r["groups"]]
    for group, effect in zip(groups, figures["effects"]):
        members, delta = inside(group), figures["effect_delta"]
        where = f"effects of group {group['name']}: "
        lower = lower_end(tools, config, group, members, delta)
        near(effect["lower"], lower, where + "lower", scale)
        own, other = mirrored(tools, config, group)
        upper = -lower_end(tools, own, other, [negated(r) for r in members], delta)
        near(effect["upper"], upper, where + "upper", scale)
    names = [g["name"] for g in reference]
    need([x["name"] for x in figures["approvals"]] == names, "approvals")
    for group, said in zip(reference, figures["approvals"]):
        for policy, member in (("candidate", "pi"), ("reference", "s")):
            computed = rates(tools, inside(group), member, group.get("erased", 0),
                             figures["rate_delta"], config["bet_cap"])
            for end, figure in zip(("rate", "lower", "upper"), computed):
                near(said[policy][end], figure, f"{policy}'s {end} of {group['name']}", 1)
    check_ratios(tools, figures["approvals"], names)
    check_parts(tools, plan, figures, lines)
    alone = [r["unit"] for r in lines if not r["groups"]]
    counts = figures.get("ungrouped_records", 0), figures.get("ungrouped_persons", 0)
    need(counts == (len(alone), len(set(alone))), "ungrouped")
    worst = c["verdict"] == "CERTIFIED" and config.get("missing_gamma") is None and \
        any(g["missing_outcomes"] for g in groups)
    need(figures.get("sensitivity", {}).get("tipping_gamma") == (scale if worst else None),
         "tipping_gamma")
