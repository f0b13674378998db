"""From points of loss and disparity to comparisons at equal disparity, and from seconds to rows."""
import math
import statistics

import numpy as np
import regression_tables  # noqa: F401  (puts peers/gbdt on the path)
import rows as reports  # peers/gbdt's
from scipy import stats


def hull(points):
    """Indices of the lower convex hull on the training rows, by increasing disparity: mixtures
    of its neighbours are the deployable models."""
    order = sorted(range(len(points)), key=lambda i: (points[i]["train"]["disparity"],
                                                      points[i]["train"]["loss"]))
    kept = []
    for i in order:
        here = points[i]["train"]
        if kept and here["loss"] >= points[kept[-1]]["train"]["loss"]:
            continue
        while len(kept) > 1:
            a, b = points[kept[-2]]["train"], points[kept[-1]]["train"]
            turn = ((b["disparity"] - a["disparity"]) * (here["loss"] - a["loss"])
                    - (here["disparity"] - a["disparity"]) * (b["loss"] - a["loss"]))
            if turn > 0:
                break
            kept.pop()
        kept.append(i)
    return kept


def path(points):
    """[k x 2] disparity and loss on the test rows, for mixtures along the hull."""
    kept = [points[i]["test"] for i in hull(points)]
    corners = np.array([(p["disparity"], p["loss"]) for p in kept])
    if len(corners) == 1:
        return corners
    shares = np.linspace(0, 1, 101)[:, None]
    return np.concatenate([(1 - shares) * a + shares * b for a, b in zip(corners, corners[1:])])


def best_at(points, disparity):
    """The smallest test loss of ours that is as fair on the test rows; None if there is none."""
    along = path(points)
    fair = along[along[:, 0] <= disparity + 1e-12]
    return float(fair[:, 1].min()) if len(fair) else None


def band(values):
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.inf
    spread = statistics.stdev(values) / math.sqrt(len(values))
    return mean, float(stats.t.ppf(0.975, len(values) - 1) * spread)


def compared(results):
    """At each point of each baseline: our loss minus the baseline's, in per cent of it, over
    splits."""
    by_split = {}
    for r in results:
        by_split.setdefault((r["table"], r["oracle"], r["split"]), {})[r["method"]] = r["points"]
    cells = {}
    for (table, oracle, _), found in by_split.items():
        for method, points in found.items():
            if method == "ours":
                continue
            for at, point in enumerate(points):
                loss = best_at(found["ours"], point["test"]["disparity"])
                cells.setdefault((table, oracle, method, at), []).append(
                    (point["test"]["disparity"], point["test"]["loss"], loss))
    out = []
    for (table, oracle, method, at), values in cells.items():
        reached = [v for v in values if v[2] is not None]
        row = {"table": table, "oracle": oracle, "baseline": method, "point": at,
               "disparity": statistics.fmean(v[0] for v in values),
               "loss": statistics.fmean(v[1] for v in values), "splits": len(values),
               "reached": len(reached)}
        if reached:
            mean, width = band([100 * (ours / theirs - 1) for _, theirs, ours in reached])
            row |= {"difference": mean, "band": width, "not_above": mean - width <= 0}
        out.append(row)
    return out


def cost_rows(result):
    rows = []
    by_table = {}
    for r in result["bounded"]:
        by_table.setdefault(r["table"], []).append(r)
    for table, rounds in by_table.items():
        ratios = [r["ours"]["cpu"] / r["peer"]["cpu"] for r in rounds]
        ours, peer = rounds[0]["ours"], rounds[0]["peer"]
        rows.append(reports.row(
            f"bounded group loss, {table}", "CPU seconds",
            statistics.median(r["ours"]["cpu"] for r in rounds),
            statistics.median(r["peer"]["cpu"] for r in rounds), "fairlearn, LightGBM",
            ratio=statistics.median(ratios), spread=reports.spread(ratios), goal="ratio <= 0.1",
            met=statistics.median(ratios) <= 0.1))
        rows.append(reports.row(f"bounded group loss, {table}", "training loss",
                                ours["train"]["loss"], peer["loss"], "fairlearn, LightGBM",
                                ratio=ours["train"]["loss"] / peer["loss"]))
        rows.append(reports.row(
            f"bounded group loss, {table}", f"worst group (bound {rounds[0]['zeta']:.5f})",
            max(ours["train"]["group_losses"]), max(peer["group_losses"]), "fairlearn, LightGBM"))
    for oracle in sorted({c["oracle"] for c in result["calls"]}):
        some = [c for c in result["calls"] if c["oracle"] == oracle]
        seconds, paper = statistics.median(c["seconds"] for c in some), some[0]["paper"]
        rows.append(reports.row(f"one question, n = 1,000, {oracle}", "CPU seconds", seconds, paper,
                                "paper's table", ratio=seconds / paper, goal="ratio <= 0.02",
                                met=seconds / paper <= 0.02))
    for fit in result["large"]:
        rows.append(reports.row("200,000 rows, 40 levels, 2 groups, trees", "seconds on the wall",
                                fit["wall"], None, None, goal="<= 120", met=fit["wall"] <= 120))
    return rows


def as_table(result):
    lines = []
    if result["figure"]:
        lines += ["Ours minus the baseline's test loss at its test disparity, in per cent, mean "
                  "over splits with its 95 % band:", "",
                  "| table, learner | baseline | disparity | its loss | ours - it, % | not above | "
                  "splits where ours is as fair |",
                  "| --- | --- | ---: | ---: | ---: | --- | ---: |"]
        for r in result["compared"]:
            difference = "-"
            if "difference" in r:
                difference = f"{r['difference']:+.2f} ± {r['band']:.2f}"
            lines.append(f"| {r['table']}, {r['oracle']} | {r['baseline']} | "
                         f"{r['disparity']:.3f} | {r['loss']:.5f} | {difference} | "
                         f"{reports.shown(r.get('not_above'))} | {r['reached']} of {r['splits']} |")
        lines.append("")
    if result["rows"]:
        lines.append(reports.markdown(result["rows"]))
    return "\n".join(lines)
