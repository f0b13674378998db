"""Our FairGBM beside our own boosting without constraints."""
import json
import statistics
import subprocess

import frontier
import grouped_tables
import numpy as np


def fit(peer, paths, name, *more):
    command = [peer, "--train", paths[0], "--validation", paths[1], "--test", paths[2],
               "--constraint", grouped_tables.SETS[name][3], *more]
    operate = frontier.OPERATE.get(name)
    if operate is not None:
        command += ["--operate-at", operate.replace("=", "<=")]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                         check=True)
    return json.loads(ran.stdout)


def split(name, table, folder, seed):
    paths = [folder / f"{name}.{part}" for part in ("train", "validation", "test")]
    for path, part in zip(paths, grouped_tables.split(table, seed)):
        part.write(path)
    return paths


def ratio(judged):
    rates = judged["rates"][0]
    return min(rates) / max(rates) if max(rates) > 0 else 1.0


# multipliers never move, and the last iterate is used: plain boosting, with rates
PLAIN = ("--step", 1e-9, "--output", "last")
# plain boosting with early stopping on the validation rows: every gap is within the tolerance
STOPPED = ("--step", 1e-9, "--tolerance", 1)


def defaults(name, table, peer, folder, seeds, say):
    fair, plain = [], []
    for seed in range(seeds):
        paths = split(name, table, folder, seed)
        fair.append(fit(peer, paths, name))
        plain.append(fit(peer, paths, name, *PLAIN))
    row = {"part": "defaults", "table": name, "seeds": seeds,
           "ratio": [ratio(f["test"]) for f in fair],
           "plain_ratio": [ratio(f["test"]) for f in plain],
           "train_ratio": [ratio(f["train"]) for f in fair],
           "gap": statistics.fmean(f["test"]["gaps"][0] for f in fair),
           "plain_gap": statistics.fmean(f["test"]["gaps"][0] for f in plain),
           "validation_gap": statistics.fmean(f["validation"]["gaps"][0] for f in fair),
           "feasible": sum(f["feasible"] for f in fair),
           "cost": statistics.fmean(f["test"]["error"] - p["test"]["error"]
                                    for f, p in zip(fair, plain))}
    say(f"defaults {name}: ratios {', '.join(f'{r:.3f}' for r in row['ratio'])}; gap "
        f"{row['plain_gap']:.4f} -> {row['gap']:.4f}, error {100 * row['cost']:+.2f} points")
    return [row]


def judged_gap(fitted):
    """On the rows used to select iterates: constraints must hold on both kinds."""
    return max(fitted[part]["gaps"][0] for part in ("train", "validation"))


def stability(name, table, peer, folder, count, say):
    random = np.random.default_rng(7)
    log = lambda lo, hi: float(np.exp(random.uniform(np.log(lo), np.log(hi))))
    paths = split(name, table, folder, 0)
    worse = []
    for _ in range(count):
        tolerance = float(random.uniform(0, 0.1))
        tree = ["--trees", int(log(20, 300)), "--leaves", int(log(4, 64)), "--learning-rate",
                log(0.02, 0.3), "--min-rows", int(log(5, 200))]
        players = ["--tolerance", tolerance, "--step", log(0.1, 100), "--cap", log(0.1, 5), "--damping",
                   float(random.uniform(0, 3)), "--proxy",
                   str(random.choice(["cross_entropy", "quadratic", "hinge", "sigmoid"]))]
        fair = judged_gap(fit(peer, paths, name, *tree, *players))
        plain = judged_gap(fit(peer, paths, name, *tree, *STOPPED))
        if fair > max(plain, tolerance) + 1e-9:
            worse.append((fair, plain, tree + players))
    say(f"stability {name}: {len(worse)} of {count} settings end with a wider gap than plain "
        f"boosting {worse[:2] if worse else ''}")
    return [{"part": "stability", "table": name, "settings": count, "worse": len(worse)}]


def as_table(rows):
    lines = []
    some = [row for row in rows if row["part"] == "defaults"]
    if some:
        lines += ["", "Default settings, test rows, means over seeds (ratio: the smallest):", "",
                  "| table | ratio, plain | ratio, fair | ratio, fair, training rows | gap, plain | "
                  "gap, fair | error, points | tolerance kept |",
                  "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"]
        lines += [f"| {r['table']} | {min(r['plain_ratio']):.3f} | {min(r['ratio']):.3f} | "
                  f"{min(r['train_ratio']):.3f} | {r['plain_gap']:.4f} | {r['gap']:.4f} | "
                  f"{100 * r['cost']:+.2f} | {r['feasible']} of {r['seeds']} |" for r in some]
    some = [row for row in rows if row["part"] == "stability"]
    if some:
        lines += ["", "| table | random settings | wider gap than plain boosting |",
                  "| --- | ---: | ---: |"]
        lines += [f"| {r['table']} | {r['settings']} | {r['worse']} |" for r in some]
    return lines
