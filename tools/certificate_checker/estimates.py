"""What a line of evidence says, and what it counts in the test: the recipe's formula of Z."""
import math
import struct
from hashlib import sha256

from bounds import INF, log_mean, need

REFER = "p_refer", "pi_refer", "s_refer", "anchor_refer"
REFER_OF = {"p": "p_refer", "pi": "pi_refer", "s": "s_refer", "anchor": "anchor_refer"}
UNANSWERED, GRANTED = 1, 3  # of what people said to a referral; 2: they refused


def refers(r):
    return any(r.get(k, 0) for k in REFER + ("referral",))


def declines(approve, refer):
    """P(decline), without what is rounding."""
    p = 1 - approve - refer
    return 0.0 if refer > 0 and p < 1e-12 else p


def referral(r):
    """Whether a referral was drawn, and what people said to it."""
    return r.get("referral", 0)


def is_granted(r):
    if referral(r):
        return referral(r) == GRANTED
    return r["approved"] != r.get("overridden", False)


def is_due(r, declined):
    """Whether a record should have an impact of its own."""
    return declined is None or is_granted(r) or referral(r) == UNANSWERED


def knows_declines(config):
    """Whether every decline has the same, known impact."""
    return config["declined_impact"] is not None and not config.get("declines_overridden", False)


def check_line(r, config):
    """What was drawn was possible, and referrals are those that a run may read."""
    for p, q in ((r.get(action, 0), r.get(refer, 0)) for action, refer in REFER_OF.items()):
        need(0 <= p <= 1 and 0 <= q <= 1 and p + q <= 1 + 1e-12, "a probability")
    drawn, p_refer = referral(r), r.get("p_refer", 0)
    chance = p_refer if drawn else r["p"] if r["approved"] else declines(r["p"], p_refer)
    need(chance > 0, "an action of probability 0")
    other = r["approved"] or r.get("overridden", False)
    need(drawn in (0, 1, 2, 3) and not (drawn and other), "a referral")
    need(drawn != UNANSWERED or r["impact"] is None, "an impact without an answer")
    policies = [r.get(k, 0) for k in ("pi_refer", "s_refer") + ("anchor_refer",) * ("anchor" in r)]
    need("anchor" in r or not r.get("anchor_refer", 0), "a referral by no policy")
    if p_refer == 1:
        need(all(p == 1 for p in policies), "a referral by rule")
    else:
        declared = config.get("referrals", False) or not any(policies + [p_refer])
        need(declared, "referrals that are not declared")


def line_bytes(r, constrained):
    """The line in the vault's digest."""
    flags = 32 * r.get("second_half", False) + 16 * refers(r) + 8 * ("q1" in r)
    flags += 4 * r.get("overridden", False) + 2 * r["approved"] + (r["impact"] is not None)
    p = [x + 0.0 for x in (r["p"], r["pi"], r["s"], r.get("anchor", 0))]
    groups = sum(1 << g for g in r["groups"])
    out = bytes.fromhex(r["unit"] + r["id"])
    out += struct.pack(">IddddQB", r["logger"], *p, groups, flags)
    if "q1" in r:
        out += struct.pack(">dd", r["q1"] + 0.0, r["q0"] + 0.0)
    if refers(r):
        out += struct.pack(">ddddB", *(r.get(k, 0) + 0.0 for k in REFER), referral(r))
    if constrained:
        met = sum(met << 2 * k for k, met in enumerate(r.get("conditions", [])))
        out += struct.pack(">BQ", "label" in r, met)
    return out


def vault_digest(loggers, groups, lines, constrained, erased):
    out = []
    for names in (loggers, groups):
        out.append(struct.pack(">Q", len(names)))
        out += [struct.pack(">I", len(name.encode())) + name.encode() for name in names]
    out += [line_bytes(r, constrained) for r in lines]
    out.append(struct.pack(f">{1 + len(erased)}Q", len(lines), *erased))
    return sha256(b"".join(out)).hexdigest()


class Estimate:
    """Z of a record as a function of action and impact. Actions: 0 decline, 1 approve, 2 refer."""

    def __init__(self, r, config, group):
        self.r, self.a, self.b = r, config["impact_lo"], config["impact_hi"]
        self.declined, self.known = config["declined_impact"], knows_declines(config)
        tau, top = config.get("at_least"), config.get("max_weight") or INF
        base = "s" if group["against"] == "reference" else "anchor"
        p, pi, s = r["p"], r["pi"], r[base]
        p_r, pi_r, s_r = (r.get(REFER_OF[k], 0) for k in ("p", "pi", base))
        self.idle = tau is None and pi == s and pi_r == s_r
        self.p = [declines(p, p_r), p, p_r]
        self.drawn = 2 if referral(r) else int(r["approved"])
        mine, other = [declines(pi, pi_r), pi, pi_r], [declines(s, s_r), s, s_r]
        cut = [0.0] * 3 if top == INF else [max(0.0, x - top * y) for x, y in zip(mine, self.p)]
        cut[0] *= not self.known
        moved = [s - pi if not pi_r and not s_r else mine[0] - other[0], pi - s, pi_r - s_r]
        self.c = [(m if tau is None else x) - y for m, x, y in zip(moved, mine, cut)]
        self.q = self.centres(r, config, group)
        self.offset = sum(c * q for c, q in zip(self.c, self.q)) + sum(cut) * self.a - (tau or 0)
        self.expected = is_due(r, self.declined)
        impossible = [a for a in (0, 1, 2) if not self.p[a] > 0 and self.c[a] != 0]
        self.supported = self.idle or not impossible or (self.known and impossible == [0])
        approvals = config["trust_region"] == "approvals"
        bounded = [1] if not pi_r and not s_r else [1, 2] if approvals else [0, 1, 2]
        room = lambda s: max(s if approvals else min(s, 1 - s), 1e-9)
        steps = [(abs(mine[a] - other[a]), room(other[a])) for a in bounded]
        self.trust = max(step / unit for step, unit in steps)
        within = all(step <= config["kappa"] * unit + 2e-9 for step, unit in steps)
        self.trusted = group["against"] == "anchor" or within

    def centres(self, r, config, group):
        own = config.get("centres") == "regression"
        within = not own or all(self.a <= r[q] <= self.b for q in ("q1", "q0"))
        need(own == ("q1" in r) == ("q0" in r) and within, "a record's own centre")
        decline = self.declined if self.known else r.get("q0", group["q_decline"])
        return [decline, r.get("q1", group["q_approve"]), group.get("q_refer", 0)]

    def at(self, action, impact):
        if self.idle or (self.known and not action):
            return 0.0 if self.idle else self.offset
        return self.c[action] / self.p[action] * (impact - self.q[action]) + self.offset

    def value(self, gamma):
        action, impact = self.drawn, self.r["impact"]
        if not self.expected:
            impact = self.declined
        elif impact is None:
            q, far = (self.q[action], gamma) if gamma is not None else (0, INF)
            impact = max(self.a, q - far) if self.c[action] > 0 else min(self.b, q + far)
        return self.at(action, impact)

    def range(self):
        possible = [action for action in (0, 1, 2) if self.p[action] > 0]
        corners = [self.at(action, x) for action in possible for x in (self.a, self.b)]
        return min(corners), max(corners)

    def least(self):
        """The least expectation of Z that impacts in their range allow."""
        moves = [c * ((self.a if c > 0 else self.b) - q) for c, q in zip(self.c, self.q)]
        moved = moves[1] + moves[2] + (0 if self.known else moves[0])
        return 0.0 if self.idle else self.offset + moved

    def leaves(self, lo, margin=0):
        return not self.supported or self.range()[0] + margin < lo


def beyond(config, group, e):
    """Whether a record counts the least that its features allow."""
    m = config.get("records_per_person", 0)
    return m > 0 and e.leaves(group["lo"] / m, config["margin"])


def record_value(config, group, e, gamma, least):
    """V of a record, and whether it was cut to the most that one may count."""
    m = config.get("records_per_person", 0)
    value = (e.least() if least else e.value(gamma)) + config["margin"]
    return (group["hi"] / m, True) if m and value >= group["hi"] / m else (value, False)


def unit_sums(config, group, estimates, gamma):
    """V of each person, and its range."""
    units = {}
    for e in estimates:
        unit = units.setdefault(e.r["unit"], [0.0, 0.0, 0.0])
        unit[0] += record_value(config, group, e, gamma, beyond(config, group, e))[0]
        for k, x in enumerate(e.range()):
            unit[k + 1] += x + config["margin"]
    return list(units.values())


def largest_change(config):
    """The largest |pi - s| that the trust region allows."""
    return min(1, config["kappa"] / (1 if config["trust_region"] == "approvals" else 2))


def widest_loss(config, group):
    """The least expectation of Z for any features."""
    a, b, c0 = config["impact_lo"], config["impact_hi"], config["declined_impact"]
    if config.get("at_least") is not None:
        return a - config["at_least"]
    change = largest_change(config) if group["against"] == "reference" else 1
    known = knows_declines(config) and not config.get("referrals", False)
    worst = max(b - c0, c0 - a) if known else b - a
    return -change * worst - (b - a if config.get("max_weight") else 0)


def tenth(p):
    return int(min(max(p * 10, 0), 9))


def calibration(lines):
    """z over all, and over tenths of p."""
    tenths = []
    for k in range(10):
        inside = [r for r in lines if tenth(r["p"]) == k]
        tenths.append([math.fsum(r["approved"] - r["p"] for r in inside),
                       math.fsum(r["p"] * (1 - r["p"]) for r in inside)])
    excess, variance = (math.fsum(t[i] for t in tenths) for i in (0, 1))
    certain = math.copysign(INF, excess) if excess else 0.0
    z = excess / math.sqrt(variance) if variance > 0 else certain
    few = [t for t in tenths if t[1] < 5]
    pooled = [sum(t[i] for t in few) for i in (0, 1)]
    counted = [t for t in tenths + [pooled] if t[1] >= 5]
    n, v = len(counted), 2 / (9 * max(1, len(counted)))
    chi = sum(e * e / w for e, w in counted)
    return z, ((chi / n) ** (1 / 3) - (1 - v)) / math.sqrt(v) if n else 0.0


def bets(draws):
    """ln of the wealth of bets that events do not have the probabilities said of them."""
    tilts, tenths = (-1, -0.3, -0.1, 0.1, 0.3, 1), [[] for _ in range(10)]
    for p, happened in draws:
        tenths[tenth(p)].append((p, happened))
    grown = lambda p, happened, t: (t if happened else 0) - math.log1p(p * math.expm1(t))
    sums = [[math.fsum(grown(*draw, t) for draw in part) for t in tilts] for part in tenths]
    mean = lambda logs: log_mean([(1 / len(tilts), x) for x in logs])
    whole = mean([math.fsum(part[k] for part in sums) for k in range(len(tilts))])
    return log_mean([(0.5, whole), (0.5, math.fsum(mean(part) for part in sums))])


def bets_on_draws(lines, config):
    """ln of the wealth of bets that the draws do not follow the logged probabilities."""
    approvals = bets([(r["p"], r["approved"]) for r in lines])
    if not config.get("referrals", False):
        return approvals
    referrals = bets([(r.get("p_refer", 0), referral(r) > 0) for r in lines])
    return log_mean([(0.5, approvals), (0.5, referrals)])


def calibration_log_wealth(plan, lines):
    groups = [g["group"] for g in plan["groups"] if g["against"] == "reference"]
    config, loggers = plan["config"], range(len(plan["loggers"]))
    weights = [1 / 3 / ((l + 1) * (l + 2)) for l in loggers]
    parts = [(1 / 3, bets_on_draws(lines, config)), (1 / 3 - sum(weights), 0)]
    for g in groups:
        members = [r for r in lines if g in r["groups"]]
        parts.append((1 / 3 / len(groups), bets_on_draws(members, config)))
    for l in loggers:
        decided = [r for r in lines if r["logger"] == l]
        parts.append((weights[l], bets_on_draws(decided, config)))
    return log_mean(parts)


def propensities_fit(plan, z, deciles):
    config = plan["config"]
    if plan["identity"].get("acknowledged_alarm") or config.get("records_per_person", 0):
        return True  # or the bets decide
    if "max_calibration_z" in config:
        return max(abs(z), deciles) <= config["max_calibration_z"]
    groups = sum(g["against"] == "reference" for g in plan["groups"])
    tests = 2 * (1 + len(plan["loggers"]) + groups)
    level = config["calibration_level"] / (config["runs_per_epoch"] * tests)
    return min(math.erfc(abs(z) / 2 ** 0.5), math.erfc(deciles / 2 ** 0.5) / 2) >= level
