"""Runs the work of tools/peers/budro: `run` builds, installs, and then starts this."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import budro_growth
import budro_measures
import budro_report
import budro_tables
import numpy as np

# Settings of Vargo et al. (2021), tables 4, 6 and 8, where given: steps, depth, learning rate,
# lambda, minimum hessian in a leaf. For BuDRO lambda and hessian are for weights of sum 1; an "n"
# is multiplied by the number of rows; then epsilon and further options. "tuned": found on splits of
# other seeds than the reported ones.
ENTROPIC = ("--transport", "entropic", "--gamma", 5e-5)
SETTINGS = {
    "german": {"budro": (90, 4, 0.005, 1.0, 1 / 80, 1.0), "plain": (105, 10, 0.5, 1000, 2),
               "project": (111, 7, 0.5, 2000, 2)},
    "adult": {"budro": (180, 14, 0.005, 1e-4, "0.1n", 0.4),
              "tuned": (180, 14, 0.005, 1e-4, "0.1n", 0.3),
              "plain": (816, 3, 0.05, 0.01, 0.5),
              "project": (668, 8, 0.05, 0.5, 0.5)},
    "compas": {"budro": (68, 2, 1.5e-5, 1e-8, "0.1n", 0.12, *ENTROPIC),
               "plain": (1600, 3, 5e-4, 1e-8, 0.1), "project": (2000, 4, 7.5e-4, 1e-8, 0.1)},
    "default_credit_card": {"budro": (200, 8, 0.02, 1e-4, "0.1n", 0.4),
                            "plain": (200, 5, 0.05, 1, 1), "project": (200, 5, 0.05, 1, 1)},
    "cards": {"budro": (200, 8, 0.02, 1e-4, "0.1n", 0.4), "plain": (200, 5, 0.05, 1, 1),
              "project": (200, 5, 0.05, 1, 1)},
}
REWEIGH = (100, 6, 0.3, 1, 1)  # XGBoost's defaults, as in the paper
UNWEIGHTED = {("compas", "plain"), ("compas", "project")}  # others weight ones by zeros / ones


def say(text):
    print(f"tools/peers/budro: {text}", file=sys.stderr, flush=True)


def answer(command):
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                         check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def balancing(train):
    """Reweighing of Kamiran and Calders, by intersection of groups and label, as if these were
    independent."""
    group = np.zeros(len(train.label), dtype=int)
    for one in train.groups.values():
        group = 2 * group + np.asarray(one, dtype=int)
    weight = np.ones(len(train.label))
    for k in np.unique(group):
        for y in (0, 1):
            cell = (group == k) & (train.label == y)
            if cell.any():
                weight[cell] = (group == k).mean() * (train.label == y).mean() / cell.mean()
    return weight


def command_of(options, name, method, train, folder):
    fit = {"reweigh": "plain", "tuned": "budro"}.get(method, method)
    setting = REWEIGH if method == "reweigh" else SETTINGS[name][method]
    steps, depth, rate, penalty, hessian = setting[:5]
    if hessian == "0.1n":
        hessian = 0.1 / len(train.label)
    budget = setting[5] if fit == "budro" else SETTINGS[name]["budro"][5]
    ones = float((train.label == 0).sum() / (train.label == 1).sum())
    command = [options.peer, "--method", fit, "--train", folder / "train", "--test",
               folder / "test", "--out", folder / "scores", "--trees", steps, "--depth", depth,
               "--learning-rate", rate, "--lambda", penalty, "--min-hessian", repr(hessian),
               "--epsilon", repr(budget), "--audit-epsilon", repr(SETTINGS[name]["budro"][5]),
               "--protected", *train.protected, "--threads", 2]
    if train.indicators:
        command += ["--indicators", *train.indicators]
    if train.two_columns:
        command += ["--two-columns", *train.two_columns]
    if train.C:
        command += ["--l2", repr(1 / (train.C * len(train.label)))]
    if train.l2_of_numbers:
        command += ["--l2-of-numbers", *map(repr, train.l2_of_numbers)]
    if fit == "budro":
        command += ["--paper-scale", *setting[6:]]
    if (name, method) not in UNWEIGHTED:
        command += ["--weight-of-ones", repr(ones)]
    if method == "reweigh":
        balancing(train).astype("<f4").tofile(folder / "weights")
        command += ["--weights", folder / "weights"]
    return command


def named(train):
    """Features by the names that peer_budro uses."""
    found = train.subset(slice(None))
    found.protected = [f"x{train.at(name)}" for name in train.protected]
    found.indicators = [f"x{train.at(name)}" for name in train.indicators]
    found.two_columns = [f"x{train.at(name)}" for name in train.two_columns]
    return found


def one(options, name, train, test, folder, methods):
    """{method: measures of its decisions} for one split."""
    train.write(folder / "train")
    test.write(folder / "test")
    others, sizes = [], []
    for key, copies in test.copies.items():
        for at, settings in enumerate(copies):
            others.append(folder / f"{key}.{at}")
            test.changed(settings).write(others[-1])
        sizes.append((key, len(copies)))
    found = {}
    for label, method in methods.items():
        told = answer([*command_of(options, name, method, named(train), folder),
                       "--others", *others])
        scores = np.fromfile(folder / "scores").reshape(-1, len(test.label))
        copies, first = {}, 1
        for key, count in sizes:
            copies[key] = list(scores[first:first + count])
            first += count
        found[label] = budro_measures.judged(test, scores[0], copies) | {
            "performance gap": told["performance_gap"], "seconds": told["wall"],
            "worst primal-dual gap": told.get("worst_gap", 0.0)}
    return found


def tables(options, folder):
    results = {}
    for name in options.table:
        found = budro_tables.load(name, options.data)
        if found is None:
            say(f"{name}: no file in {options.data}, left out")
            continue
        methods = {"plain": "plain", "project": "project", "reweigh": "reweigh", "BuDRO": "budro"}
        if "tuned" in SETTINGS[name]:
            methods["BuDRO, tuned"] = "tuned"
        results[name] = []
        seeds = budro_tables.SEEDS[name][:options.seeds]
        for turn, seed in enumerate(seeds):
            train, test = budro_tables.split(name, found, seed)
            start = time.monotonic()
            results[name].append(one(options, name, train, test, folder, methods))
            say(f"{name}: split {turn + 1} of {len(seeds)}, {time.monotonic() - start:.0f} s")
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--options", required=True, help="what run was told, as JSON")
    options = argparse.Namespace(**json.loads(parser.parse_args().options))
    options.data = pathlib.Path(options.data)
    folder = pathlib.Path(options.dir)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load {load:.1f}): seconds mean little")
    result = {"load": load, "tables": {}, "cost": []}
    with tempfile.TemporaryDirectory(prefix="work-", dir=folder) as work:
        if "tables" in options.only:
            result["tables"] = tables(options, pathlib.Path(work))
    if "cost" in options.only:
        result["cost"] = budro_growth.measure(options, say)
        budro_growth.write(result["cost"], folder)
        say(f"the cost: {folder / 'growth.html'}, {folder / 'growth.csv'}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(budro_report.as_table(result["tables"]))
    if result["cost"]:
        print(budro_growth.as_table(result["cost"]))


if __name__ == "__main__":
    main()
