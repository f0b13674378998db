"""Runs the work of tools/peers/fair_regression: `run` builds, installs, and then starts this with
the peers."""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import regression_figure
import regression_judge
import regression_peers
import regression_tables

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 1)
BOUNDS = (0.005, 0.02, 0.06, 0.15)  # for fair classification
FEW = 2000  # rows; on such tables trees memorise the data
PAPER = {"linear": 3.48, "gbdt": 3.60}  # seconds per oracle call, Agarwal et al. (2019), Table 1


def say(text):
    print(f"tools/peers/fair_regression: {text}", file=sys.stderr, flush=True)


def answer(peer, what, *told):
    command = [str(part) for part in (peer, what, *told)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def judged(peer, path, scores, weights, loss, folder):
    scores.astype(np.float64).tofile(folder / "says")
    return answer(peer, "judge", "--test", path, "--loss", loss, "--predictions", folder / "says",
                  "--weights", *[repr(float(w)) for w in weights])


def classification(peer, oracle, train, test, paths, loss, folder):
    points = []
    for bound in BOUNDS:
        here, there, weights, _ = regression_peers.fair_classification(oracle, train, test, bound)
        points.append({"train": judged(peer, paths[0], here, weights, loss, folder),
                       "test": judged(peer, paths[1], there, weights, loss, folder)})
    return points


def methods(peer, table, oracle, train, test, folder):
    """{method: points} of one split; a point: loss and disparity on training and test rows."""
    loss = regression_tables.SETS[table][0]
    paths = [folder / "train", folder / "test"]
    for part, path in zip((train, test), paths):
        part.write(path)
    told = ("--train", paths[0], "--test", paths[1], "--oracle", oracle, "--loss", loss)
    found = {"ours": answer(peer, "fit", *told, "--epsilons", *EPSILONS),
             "unconstrained": [answer(peer, "plain", *told)]}
    if oracle == "linear":
        found["paper's EG"] = answer(peer, "fit", *told, "--epsilons", *EPSILONS, "--refine", 0,
                                     "--repairs", 0, "--reduction", "least_squares", "--method",
                                     "exponentiated_gradient", "--calls", 50)
    if loss == "squared" and oracle == "linear":
        found["SEO"] = [answer(peer, "plain", *told, "--seo")]
    if loss == "logistic":
        found["fair classification"] = classification(peer, oracle, train, test, paths, loss,
                                                      folder)
    return found


def remembered(options, key, make):
    """The result of `make`, cached in the folder of results: an interrupted run continues. `key`
    names it; another build or other settings compute it again."""
    path = pathlib.Path(options.dir) / "known" / f"{'-'.join(map(str, key))}.json"
    mark = [options.build, EPSILONS, BOUNDS]
    if path.exists():
        known = json.loads(path.read_text(encoding="utf-8"))
        if known["mark"] == json.loads(json.dumps(mark)):
            return known["found"]
    found = make()
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"mark": mark, "found": found}), encoding="utf-8")
    return found


def figure(options, folder):
    results = []
    for table in options.table:
        rows = regression_tables.load(table, options.data)
        if rows is None:
            say(f"{table}: no file in {options.data}, left out")
            continue
        oracles = ("linear", "gbdt") if len(rows.target) > FEW else ("linear",)
        for split in range(options.splits):
            train, test = regression_tables.halves(rows, split)
            for oracle in oracles:
                found = remembered(options, (table, oracle, split), lambda: methods(
                    options.peer, table, oracle, train, test, folder))
                results += [{"table": table, "oracle": oracle, "split": split, "method": method,
                             "points": points} for method, points in found.items()]
            say(f"figure, {table}: split {split + 1} of {options.splits}")
    return results


def between(peer, told):
    """A bound on the groups' losses half way between plain boosting and the optimum, and the
    tolerance of the solution."""
    free = answer(peer, "bound", *told, "--zeta", 1)
    least = answer(peer, "bound", *told, "--zeta", 0)
    worst = max(free["train"]["group_losses"])
    return worst - (worst - min(worst, least["least_violation"])) / 2, free["tolerance"]


def bounded(options, table, folder):
    rows = regression_tables.load(table, options.data)
    if rows is None:
        say(f"{table}: no file in {options.data}, left out")
        return []
    train, test = regression_tables.halves(rows, 0)
    for part, name in ((train, "train"), (test, "test")):
        part.write(folder / name)
    told = ("--train", folder / "train", "--test", folder / "test", "--oracle", "gbdt")
    zeta, gap = between(options.peer, told)
    rounds = []
    for turn in range(options.rounds):
        ours = answer(options.peer, "bound", *told, "--zeta", repr(zeta), "--gap", repr(gap))
        theirs = regression_peers.bounded_group_loss(train, test, zeta, gap)
        rounds.append({"table": table, "zeta": zeta, "gap": gap, "ours": ours, "peer": theirs})
        say(f"bounded group loss, {table}, round {turn + 1} of {options.rounds}: "
            f"ours {ours['cpu']:.2f} s, fairlearn {theirs['cpu']:.2f} s")
    return rounds


def calls(options, folder):
    """Seconds of one oracle call, 1,000 rows of the law school data."""
    rows = regression_tables.load("law_school_2000", options.data)
    if rows is None:
        return []
    train, test = regression_tables.halves(rows, 0)
    train = train.subset(np.arange(min(1000, len(train.target))))
    train.write(folder / "train")
    test.write(folder / "test")
    found = []
    for oracle, paper in PAPER.items():
        for _ in range(options.rounds):
            fit = answer(options.peer, "fit", "--train", folder / "train", "--test",
                         folder / "test", "--oracle", oracle, "--epsilons", 0.02, "--trees", 200)
            found.append({"oracle": oracle, "seconds": fit[0]["cpu"] / fit[0]["calls"],
                          "paper": paper})
    return found


def large(options, folder):
    """200,000 synthetic rows, 40 levels, 2 groups, 100 trees, 2 threads: wall seconds."""
    if options.quick:
        return []
    random = np.random.default_rng(1)
    table = regression_tables.plain.census_like(200_000, 1)
    group = (random.random(200_000) < 0.4).astype(np.uint8)
    lift = 0.5 * group + 0.02 * (table.columns[1] - 18) + 0.01 * (table.columns[2] - 38)
    target = 1 / (1 + np.exp(-(lift + random.normal(0, 0.5, len(lift)))))
    rated = regression_tables.Rated(table, target, group)
    rated.write(folder / "train")
    rated.subset(np.arange(1000)).write(folder / "test")
    return [answer(options.peer, "fit", "--train", folder / "train", "--test", folder / "test",
                   "--oracle", "gbdt", "--epsilons", 0.05, "--threads", 2)[0]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--options", required=True, help="what run was told, as JSON")
    options = argparse.Namespace(**json.loads(parser.parse_args().options))
    options.data = pathlib.Path(options.data)
    options.build = hashlib.sha256(pathlib.Path(options.peer).read_bytes()).hexdigest()
    folder = pathlib.Path(options.dir)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load {load:.1f}): only ratios mean something")
    result = {"load": load, "rows": [], "figure": [], "bounded": []}
    with tempfile.TemporaryDirectory(prefix="work-", dir=folder) as work:
        work = pathlib.Path(work)
        if "figure" in options.only:
            result["figure"] = figure(options, work)
            result["compared"] = regression_judge.compared(result["figure"])
            regression_figure.write(result["figure"], folder)
            say(f"the figure: {folder / 'frontier.html'}, {folder / 'frontier.csv'}")
        if "cost" in options.only:
            tables = ("communities",) if options.quick else ("communities", "law_school", "adult")
            for table in tables:
                result["bounded"] += bounded(options, table, work)
            result["calls"] = calls(options, work)
            result["large"] = large(options, work)
            result["rows"] = regression_judge.cost_rows(result)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(regression_judge.as_table(result))


if __name__ == "__main__":
    main()
