"""From what everybody did to rows with goals."""
import math
import statistics

import numpy as np
import rows as reports  # peers/gbdt's; ramp_data has put it on the path
from scipy import stats

OURS, OPTIMIZER, SGD = "ours", "ThresholdOptimizer", "paper's SGD"
AT_SGD = "ours, bias as the SGD's"
EXACT = 1e-9
CONVERGED = 1e-3  # largest bias on the fitting rows at which a peer counts as unbiased


def bias(approve, group, favourable, criterion):
    """max - min over groups of approval; equal opportunity: among the favourable; equalized odds:
    among them or among the others, the larger. favourable: [n] in [0, 1], labels or P(label 1)."""
    kinds = {"statistical_parity": (np.ones_like(favourable),), "equal_opportunity": (favourable,),
             "equalized_odds": (favourable, 1 - favourable)}[criterion]
    widest = 0.0
    for weight in kinds:
        rates = [np.average(approve[group == k], weights=weight[group == k])
                 for k in np.unique(group) if weight[group == k].sum() > 0]
        widest = max(widest, max(rates) - min(rates))
    return float(widest)


def band(values):
    """Mean, and the half width of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.inf
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return mean, float(stats.t.ppf(0.975, len(values) - 1) * spread)


def cells(results):
    """{(table, model, criterion): [what was found, a split]}"""
    found = {}
    for result in results:
        key = (result["table"], result["model"], result["criterion"])
        found.setdefault(key, []).append(result["found"])
    return found


def against(work, splits, mine, peer):
    """Accuracy beside one peer, paired by split; then the bias either had left on the test rows."""
    differences = [s[mine]["accuracy"] - s[peer]["accuracy"] for s in splits]
    mean, width = band(differences)
    values = {name: statistics.fmean(s[name]["accuracy"] for s in splits) for name in (mine, peer)}
    left = statistics.fmean(s[peer]["fitting bias"] for s in splits)
    judged = {}
    if mine == AT_SGD or left <= CONVERGED:  # otherwise the peer bought accuracy with bias
        judged = {"goal": "not below beyond noise", "met": mean + width >= 0}
    return reports.row(work, f"test accuracy, {mine}", values[mine], values[peer], peer,
                       ratio=values[mine] / values[peer], spread=width, **judged) | {
        "difference": mean, "peer_fitting_bias": left,
        "bias": statistics.fmean(s[mine]["bias"] for s in splits),
        "peer_bias": statistics.fmean(s[peer]["bias"] for s in splits),
        "unmodified": statistics.fmean(s["unmodified"]["accuracy"] for s in splits),
        "unmodified_bias": statistics.fmean(s["unmodified"]["bias"] for s in splits)}


def accuracy_rows(results):
    rows, worst = [], 0.0
    for (table, model, criterion), splits in cells(results).items():
        work = f"{table}, {model}, {criterion}"
        worst = max(worst, *(s[OURS]["fitting bias"] for s in splits))
        rows.append(against(work, splits, OURS, OPTIMIZER))
        if SGD in splits[0]:
            rows.append(against(work, splits, OURS, SGD))
            rows.append(against(work, splits, AT_SGD, SGD))
    summary = []
    for mine, peer in ((OURS, OPTIMIZER), (OURS, SGD), (AT_SGD, SGD)):
        some = [r for r in rows if r["peer_name"] == peer and r["goal"] is not None
                and r["measure"].endswith(mine)]
        if not some:
            continue
        # where all rows get the same decision (always the larger class) no learner can be better
        apart = [r for r in some if abs(r["difference"]) > 1e-12]
        above = sum(r["difference"] > 0 for r in apart)
        summary.append(reports.row(f"all {len(some)} cells, {mine}", "above, of those apart", above,
                                   len(apart), peer, goal="> half", met=2 * above > len(apart)))
    if rows:
        summary.append(reports.row("all, fitting rows", "largest bias", worst, None, None,
                                   goal=f"<= {EXACT}", met=worst <= EXACT))
        for peer in (OPTIMIZER, SGD):
            left = [s[peer]["fitting bias"] for splits in cells(results).values() for s in splits
                    if peer in s]
            if left:
                summary.append(reports.row("all, fitting rows", "largest bias", None, max(left),
                                           peer))
    return rows + summary


def cost_rows(seconds, n):
    rows = []
    for peer, goal in ((SGD, 0.01), (OPTIMIZER, 0.2)):
        ratios = [a / b for a, b in zip(seconds[OURS], seconds[peer])]
        ratio = statistics.median(ratios)
        rows.append(reports.row(f"fit, n = {n:,}, 4 groups", "CPU seconds",
                                statistics.median(seconds[OURS]), statistics.median(seconds[peer]),
                                peer, ratio=ratio, spread=reports.spread(ratios),
                                goal=f"ratio <= {goal}", met=ratio <= goal))
    return rows


def as_table(rows):
    """Accuracies and biases in points, then the rest."""
    lines = []
    compared = [r for r in rows if "difference" in r]
    if compared:
        lines += ["Test accuracy in %, in brackets the bias in points; means over splits, the "
                  "difference paired by split with its 95 % band:", "",
                  "| table, scores, criterion | unmodified | ours | | peer | | ours - peer | "
                  "not below |",
                  "| --- | ---: | --- | ---: | --- | ---: | ---: | --- |"]
        shown = lambda value, left: f"{100 * value:.2f} ({100 * left:.1f})"
        for r in compared:
            lines.append(
                f"| {r['work']} | {shown(r['unmodified'], r['unmodified_bias'])} | "
                f"{r['measure'].split(', ', 1)[1]} | {shown(r['ours'], r['bias'])} | "
                f"{r['peer_name']} | {shown(r['peer'], r['peer_bias'])} | "
                f"{100 * r['difference']:+.3f} ± {100 * r['spread']:.3f} | "
                f"{reports.shown(r['met'])} |")
        lines += ["", f"-: not judged, the peer left more than {100 * CONVERGED:g} points of bias "
                  "on the fitting rows.", ""]
    rest = [r for r in rows if "difference" not in r]
    if rest:
        def told(r):  # 1e-17 is not 0.0000
            if r["measure"] != "largest bias":
                return r
            return r | {key: f"{r[key]:.1e}" for key in ("ours", "peer") if r[key] is not None}
        lines.append(reports.markdown([told(r) for r in rest]))
    return "\n".join(lines)
