"""Random settings of every learner, and their comparison at equal fairness."""
import json
import math
import pathlib
import statistics
import subprocess

import grouped_tables
import yardstick
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BOUNDS = (0.01, 0.02, 0.05, 1.0)
OPERATE = {"fraud": "fpr=0.05", "cards": "statistical_parity=0.2"}
PEERS = ("lightgbm", "fairgbm", "fairlearn")


def settings_of(seed, count):
    """The same values for all learners; each uses the parameters that it has."""
    random = np.random.default_rng(1000 + seed)
    log = lambda lo, hi: float(np.exp(random.uniform(np.log(lo), np.log(hi))))
    return [{"trees": int(log(40, 300)), "leaves": int(log(8, 48)), "learning_rate": log(0.03, 0.2),
             "min_rows": int(log(10, 200)), "tolerance": float(random.uniform(0, 0.04)),
             "multiplier": log(0.005, 0.5), "reduction": "eg" if i % 2 == 0 else "gs"}
            for i, _ in enumerate(range(count))]


def our_models(peer, paths, settings, constraint, operate, *more):
    """The best iterate, by default Lagrangian parameters or those in `more`."""
    parts = [grouped_tables.Grouped.read(path) for path in paths[1:]]
    results = []
    for setting in settings:
        predictions = paths[0].with_suffix(".predictions")
        command = [peer, "--train", paths[0], "--validation", paths[1], "--test", paths[2],
                   "--constraint", constraint.lower(), "--predictions", predictions,
                   "--tolerance", setting["tolerance"], "--trees", setting["trees"],
                   "--leaves", setting["leaves"], "--learning-rate", setting["learning_rate"],
                   "--min-rows", setting["min_rows"], *more]
        if operate is not None:
            command += ["--operate-at", operate.replace("=", "<=")]
        ran = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                             check=True)
        values = np.fromfile(predictions)
        rows = [part.table.rows for part in parts]
        approve = (values[rows[0]:2 * rows[0]], values[2 * rows[0] + rows[1]:])
        results.append({"cpu": json.loads(ran.stdout)["cpu"],
                        **{name: yardstick.figures(p, part, constraint, operate)
                           for name, part, p in zip(("validation", "test"), parts, approve)}})
    return results


def theirs(python, learner, paths, settings, constraint, operate, folder):
    listed = folder / "settings.json"
    listed.write_text(json.dumps(settings), encoding="utf-8")
    command = [python, HERE / "peer_fit.py", "many", "--learner", learner, "--train", paths[0],
               "--validation", paths[1], "--test", paths[2], "--settings", listed,
               "--constraint", constraint]
    if operate is not None:
        command += ["--operate", operate]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                         check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def chosen(results, bound):
    """On validation rows: the best that keeps the bound, or else the one with the smallest gap."""
    kept = [r for r in results if r["validation"]["gap"] <= bound]
    if kept:
        return max(kept, key=lambda r: r["validation"]["performance"])
    return min(results, key=lambda r: r["validation"]["gap"])


def band(values):
    """Mean and half width of its 95 % interval."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, math.inf
    from scipy import stats
    width = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, float(width)


def compare(name, table, peer, python, folder, options, say):
    constraint = grouped_tables.SETS[name][3].upper()
    operate = OPERATE.get(name)
    by_seed = []
    for seed in range(options.seeds):
        paths = [folder / f"{name}.{part}" for part in ("train", "validation", "test")]
        for path, part in zip(paths, grouped_tables.split(table, seed)):
            part.write(path)
        settings = settings_of(seed, options.settings)
        results = {"ours": our_models(peer, paths, settings, constraint, operate),
                   "thresholds": our_models(peer, paths, settings, constraint, operate,
                                            "--thresholds")}
        for learner in PEERS:
            some = settings[:max(2, len(settings) // 10)] if learner == "fairlearn" else settings
            results[learner] = theirs(python, learner, paths, some, constraint, operate, folder)
        by_seed.append(results)
        say(f"frontier {name}: seed {seed + 1} of {options.seeds}")
    rows = []
    for bound in BOUNDS:
        picks = {learner: [chosen(results[learner], bound)["test"] for results in by_seed]
                 for learner in ("ours", "thresholds", *PEERS) if all(r[learner] for r in by_seed)}
        row = {"part": "frontier", "table": name, "bound": bound, "settings": options.settings,
               "seeds": options.seeds}
        for learner, tests in picks.items():
            row[learner] = {key: statistics.fmean(test[key] for test in tests)
                            for key in ("performance", "gap")}
        # fair enough for a comparison: not clearly above our own gap
        rivals = [l for l in picks if l in PEERS and row[l]["gap"] <= row["ours"]["gap"] + 0.01]
        if rivals:
            best = max(rivals, key=lambda l: row[l]["performance"])
            differences = [a["performance"] - b["performance"]
                           for a, b in zip(picks["ours"], picks[best])]
            row["best_peer"] = best
            row["difference"], row["band"] = band(differences)
        rows.append(row)
    return rows


def as_table(rows):
    lines = []
    costs = [row for row in rows if row["part"] == "cost"]
    if costs:
        lines += ["| table | constraint | ours, CPU s | beside | CPU s | ratio |",
                  "| --- | --- | ---: | --- | ---: | ---: |"]
        lines += [f"| {r['table']} | {r['constraint']} | {r['ours']:.3f} | {r['to']} | "
                  f"{r['peer']:.3f} | {r['ratio']:.2f} |" for r in costs]
    import ours
    lines += ours.as_table(rows)
    fronts = [row for row in rows if row["part"] == "frontier"]
    if fronts:
        cell = lambda r, l: (f"{100 * r[l]['performance']:.2f} ({100 * r[l]['gap']:.1f})"
                             if l in r else "-")
        lines += ["", "Test performance in %, in brackets the gap between groups, by bound on the "
                  "validation gap:", "",
                  "| table | bound | ours | LightGBM | fairgbm | fairlearn | ours - best as fair | "
                  "thresholds by group¹ |",
                  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
        for r in fronts:
            difference = (f"{100 * r['difference']:+.2f} ± {100 * r['band']:.2f} ({r['best_peer']})"
                          if "difference" in r else "no peer as fair")
            lines.append(f"| {r['table']} | {r['bound']} | {cell(r, 'ours')} | "
                         f"{cell(r, 'lightgbm')} | {cell(r, 'fairgbm')} | {cell(r, 'fairlearn')} | "
                         f"{difference} | {cell(r, 'thresholds')} |")
        lines += ["", "¹ Our plain boosting, with thresholds fitted on the validation rows."]
    return "\n".join(lines)
