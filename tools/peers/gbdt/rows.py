"""From samples to the rows of a report: medians of ratios, goals, tables."""
import math
import statistics

PEERS = {"lightgbm": "LightGBM 4.6.0", "xgboost": "XGBoost 2.1.4"}
FIELDS = ["work", "measure", "ours", "peer", "peer_name", "ratio", "spread", "goal", "met"]


def spread(values):
    """Interquartile range over median; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / middle if middle else 0.0


def row(work, measure, ours, peer, peer_name, **more):
    out = dict.fromkeys(FIELDS)
    return out | {"work": work, "measure": measure, "ours": ours, "peer": peer,
                  "peer_name": peer_name} | more


def best_peer(values_by_name):
    return min((name for name in values_by_name if name != "ours"), key=values_by_name.get)


def against_best(work, measure, samples, at_most=None):
    """samples: {"ours": [...], peer: [...]}, one per round, less is better. Compares ours with
    the peer of the smallest median, round by round: adjacent runs had similar machine load."""
    middles = {name: statistics.median(values) for name, values in samples.items()}
    peer = best_peer(middles)
    ratios = [a / b for a, b in zip(samples["ours"], samples[peer])]
    ratio = statistics.median(ratios)
    return row(work, measure, middles["ours"], middles[peer], PEERS.get(peer, peer), ratio=ratio,
               spread=spread(ratios), goal=None if at_most is None else f"ratio <= {at_most}",
               met=None if at_most is None else ratio <= at_most)


def best_rounds(work, measure, samples):
    """Each library's minimum: its cost without other load, if any round had none."""
    least = {name: min(values) for name, values in samples.items()}
    peer = best_peer(least)
    return row(work, measure, least["ours"], least[peer], PEERS.get(peer, peer),
               ratio=least["ours"] / least[peer])


def standard_error(values):
    if len(values) < 2:
        return 0.0
    return statistics.stdev(values) / math.sqrt(len(values))


def quality_rows(work, samples, tolerance=0.0005, goal=True):
    """samples: {name: [{auc, log_loss}, …]}, one per seed. Spread: the difference's standard
    error."""
    rows = []
    for peer in samples:
        if peer == "ours":
            continue
        for measure in ("auc", "log_loss"):
            ours = [s[measure] for s in samples["ours"]]
            theirs = [s[measure] for s in samples[peer]]
            difference = statistics.fmean(a - b for a, b in zip(ours, theirs))
            out = row(work, measure, statistics.fmean(ours), statistics.fmean(theirs), PEERS[peer],
                      spread=standard_error([a - b for a, b in zip(ours, theirs)]))
            if measure == "auc" and goal:
                out |= {"goal": f">= peer - {tolerance}", "met": difference >= -tolerance}
            rows.append(out)
    return rows


def better_row(all_samples):
    """all_samples: {work: samples} with each library's defaults. Counts the sets on which ours
    has a better AUC than either peer."""
    def mean(values):
        return statistics.fmean(s["auc"] for s in values)
    def best(samples):
        return max(mean(values) for name, values in samples.items() if name != "ours")
    better = sum(mean(samples["ours"]) > best(samples) for samples in all_samples.values())
    return row("quality, defaults, all sets", "sets with the best AUC", better, len(all_samples),
               "of", goal="> half", met=2 * better > len(all_samples))


def shown(value):
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if abs(value) >= 1000:
            return f"{value:,.0f}"
        return f"{value:.4f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


def markdown(rows):
    lines = ["| " + " | ".join(FIELDS) + " |", "| " + " | ".join("---" for _ in FIELDS) + " |"]
    for r in rows:
        lines.append("| " + " | ".join(shown(r[name]) for name in FIELDS) + " |")
    return "\n".join(lines)
