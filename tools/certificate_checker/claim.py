"""The claim of a certificate, as its plan words it."""
import math
import re

from constraint_language import number_text


def significant(x, toward):
    """The number with 4 digits, rounded down (-1) or up (1)."""
    if x == 0:
        return "0"
    out, slack = float(f"{x:.3e}"), 1e-12 * abs(x)
    if (out - x) * toward < -slack:
        step = 10.0 ** (math.floor(math.log10(abs(x))) - 3)
        out = float(f"{out + toward * step:.3e}")
    return f"{out:.4g}"


def better_than(config, number):
    units = config["impact_units"] or "units"
    margin = config["margin"]
    if margin == 0:
        return "no lower than"
    if margin > 0:
        return f"lower by less than {number(margin, 1)} {units} than"
    return f"higher by more than {number(-margin, -1)} {units} than"


def constraints_of(plan, population):
    if not plan.get("constraint_plans"):
        return ""
    people = plan["config"].get("records_per_person", 0) > 0 and not population
    these = "these people" if people else "people like these"
    named = "; ".join(f"{x['name']} ({x['expression']})" for x in plan["constraint_plans"])
    return f", and over {these}, on average, the constraints hold: {named}"


def set_aside(plan):
    """The records that are counted at the worst, by their reasons."""
    others = {"of another schema file": plan.get("unexplained", 0),
              "that cannot be read": plan.get("unreadable", 0)}
    counts = {"of erased persons": plan.get("erased", 0) - sum(others.values()), **others}
    parts = [f"{records} {of}" for of, records in counts.items() if records]
    return f" and {' and '.join(parts)}, counted at the worst," if parts else ""


def claim_of(c):
    plan, ledger, identity = c["plan"], c["ledger"], c["plan"]["identity"]
    config, fewer = plan["config"], "figures" in c  # digits than in older certificates
    number = significant if fewer else lambda x, _: number_text(x)
    short = lambda name: name[:12] if fewer and re.fullmatch("[0-9a-f]{64}", name) else name
    if ledger is None:
        return (f"Nothing is claimed of candidate {identity['candidate']}: no test was run "
                f"({c['message']}).")
    candidate, epoch, run = short(identity["candidate"]), ledger["epoch"], ledger["registration"]
    look = f", look {run['look'] + 1} with the same bets" if run.get("look", 0) else ""
    run = (f"run {run['run']} of {epoch['runs']} in epoch {epoch['epoch']}, "
           f"error budget {number(epoch['delta_epoch'], 1)}{look}")
    if c["verdict"] != "CERTIFIED":
        constrained = " or constraint" * bool(plan.get("constraint_plans"))
        return (f"Nothing is claimed of candidate {candidate}: at least one group{constrained} "
                f"did not pass ({run}).")
    fixed = config.get("records_per_person", 0) > 0
    held = config["delta_epoch"] if fixed else plan["delta"]
    held = f"{significant(100 * (1 - held), -1)} %" if fewer else f"1 - {number_text(held)}"
    groups = ", ".join(g["name"] for g in plan["groups"] if g["against"] == "reference")
    erased = set_aside(plan)
    better, tau = better_than(config, number), config.get("at_least")
    other = f"that of reference {short(identity['reference'])}" if tau is None else number(tau, -1)
    anchor = identity.get("anchor", "") and \
        f", and {better} that of anchor {short(identity['anchor'])}"
    population = fixed and not identity.get("read_before", 0)
    drawn = (", and so it is on average over the population that these persons were drawn from"
             if population else "")
    return (f"With confidence {held} ({run}), in each of the groups {groups} the average impact "
            f"that candidate {candidate} would have had on the {c['evidence_records']} vault "
            f"decisions{erased} from {identity['period_from']} to {identity['period_to']} is "
            f"{better} {other}{anchor}{drawn}{constraints_of(plan, population)}.")
