"""Comparisons of figures, and bounds of a mean: by bets, Student's t, Hoeffding, Maurer and Pontil.

A test is {"bets", "bet_weights", "bet_cap"}; v are the values of persons, in [lo, hi].
"""
import math
import statistics

INF, WEIGHTS, MULTIPLES = math.inf, [0.15, 0.7, 0.15], (0.4, 1.0, 2.5)


class Rejected(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Rejected(what)


def near(recorded, computed, what, scale=0.0):
    """Equal to 1e-9 of the larger of the two, or of `scale`; null is minus infinity."""
    a = -INF if recorded is None else recorded
    scale = max(abs(a), abs(computed), scale)
    need(a == computed or (scale < INF and abs(a - computed) <= 1e-9 * scale), what)


def same(recorded, computed, what, scale=0.0):
    """Equal member by member, numbers that are not counts as `near` says."""
    if isinstance(computed, dict):
        need(isinstance(recorded, dict) and recorded.keys() == computed.keys(), what)
        for member, value in computed.items():
            same(recorded[member], value, f"{what}: {member}", scale)
    elif isinstance(computed, list):
        need(isinstance(recorded, list) and len(recorded) == len(computed), what)
        for number, value in enumerate(computed):
            same(recorded[number], value, f"{what} {number}", scale)
    elif isinstance(computed, float):
        near(recorded, computed, what, scale)
    else:
        need(type(recorded) is type(computed) and recorded == computed, what)


def moments(v):
    """Mean and variance of at least two values."""
    if min(v) == max(v):
        return v[0], 0.0
    mean = math.fsum(v) / len(v)
    return mean, math.fsum((x - mean) ** 2 for x in v) / (len(v) - 1)


def log_mean(parts):
    """ln of the sum of weight * exp(log)."""
    most = max(log for _, log in parts)
    return most + math.log(math.fsum(weight * math.exp(log - most) for weight, log in parts))


def planned_bets(n, variance, lo, delta, cap):
    need(variance > 0 and lo < 0 and n >= 2, "bets cannot be planned")
    best = math.sqrt(-2 * math.log(delta) / (n * variance))
    bets = [float(min(cap / -lo, multiple * best)) for multiple in MULTIPLES]
    return {"bets": bets, "bet_weights": WEIGHTS, "bet_cap": float(cap)}


def log_wealth(masses, test, lo, theta):
    """ln of the wealth of bets against a mean of theta, of (value, how often)."""
    terms = []
    for bet, weight in zip(test["bets"], test["bet_weights"]):
        bet = min(bet, test["bet_cap"] / (theta - lo))
        terms.append((weight, math.fsum(m * math.log1p(bet * (x - theta)) for x, m in masses)))
    return log_mean(terms)


def wealth_of(v, test, lo):
    return log_wealth([(x, 1) for x in v], test, lo, 0)


def lower_betting(v, lo, hi, test, delta):
    """The largest mean that the bets reject, of values spread over the nearest of 4097 points."""
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
        if middle > lo and log_wealth(points, test, lo, middle) >= needed:
            below = middle
        else:
            above = middle
    return max(below, 0.0) if wealth_of(v, test, lo) >= needed else below


def t_distribution(t, nu):
    """P(T <= t) for a whole nu: Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(nu))
    cosine, total = math.cos(angle), 0.0
    term = cosine if nu % 2 else 1.0
    for k in range(1 + nu % 2, nu, 2):
        total += term
        term *= cosine * cosine * k / (k + 1)
    total *= math.sin(angle)
    return 0.5 + ((angle + total) / math.pi if nu % 2 else total / 2)


def t_quantile(p, nu):
    """By Newton's method, from below: the distribution is concave above 0. p >= 1/2."""
    log_top = math.lgamma((nu + 1) / 2) - math.lgamma(nu / 2) - math.log(nu * math.pi) / 2
    t = 0.0
    for _ in range(100):
        density = math.exp(log_top - (nu + 1) / 2 * math.log1p(t * t / nu))
        step = (p - t_distribution(t, nu)) / density
        t += step
        if abs(step) <= 1e-13 * t:
            break
    return t


def width(bound, n, variance, lo, hi, delta):
    """How far a bound that is no bet lies below the mean."""
    if bound == "student_t":
        return t_quantile(1 - delta, n - 1) * math.sqrt(variance / n) if variance > 0 else INF
    if bound == "hoeffding":
        return (hi - lo) * math.sqrt(-math.log(delta) / (2 * n))
    need(bound == "maurer_pontil", "the bound")
    log_term = math.log(2 / delta)
    return math.sqrt(2 * variance * log_term / n) + 7 * (hi - lo) * log_term / (3 * (n - 1))


def shows_a_gain(bound, v, lo, hi, delta, test):
    """Whether the bound shows that the mean is above 0."""
    if bound == "betting":
        return wealth_of(v, test, lo) >= -math.log(delta)
    mean, variance = moments(v)
    return mean - width(bound, len(v), variance, lo, hi, delta) > 0
