"""Runs the work of tools/peers/ramp: `run` builds, installs and then starts this with its peers."""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
import warnings

import numpy as np
import ramp_data
import ramp_figure
import ramp_judge
import ramp_peers

CRITERIA = ("statistical_parity", "equal_opportunity", "equalized_odds")
GAMMAS = (0, *ramp_peers.GAMMAS)
OURS, OPTIMIZER, SGD = "ours", "ThresholdOptimizer", "paper's SGD"


def say(text):
    print(f"tools/peers/ramp: {text}", file=sys.stderr, flush=True)


def ours(peer, folder, fresh, test, criterion, epsilon=0.0):
    """P(1) on fresh and test rows, and peer_ramp's report of the fit."""
    problem, out = folder / "problem", folder / "approve"
    ramp_data.write_problem(problem, fresh, test)
    gammas = GAMMAS[1:] if criterion == "equalized_odds" else GAMMAS
    told = ramp_data.answer([peer, "fit", "--problem", problem, "--criterion", criterion,
                             "--epsilon", repr(epsilon), "--calibration", "auto", "--out", out,
                             "--gammas", *gammas])
    n, whole = len(fresh.score), np.fromfile(out)
    approve, f = np.split(whole, 2)
    return approve[:n], approve[n:], told | {"eta": (f[:n] + 1) / 2}


def judged(approve, rows, criterion):
    """Expected accuracy, and the bias under the criterion, by the rows' labels."""
    accuracy = np.where(rows.label == 1, approve, 1 - approve).mean()
    return {"accuracy": float(accuracy),
            "bias": ramp_judge.bias(approve, rows.group, rows.label.astype(float), criterion)}


def one(peer, folder, fresh, test, criterion, seed):
    """All post-processors on one split of one classifier's scores."""
    mine, mine_test, told = ours(peer, folder, fresh, test, criterion)
    found = {OURS: judged(mine_test, test, criterion)}
    # equal opportunity and equalized odds hold for the labels expected from calibrated scores
    found[OURS]["fitting bias"] = ramp_judge.bias(mine, fresh.group, told["eta"], criterion)
    found[OURS]["gamma"] = told["gamma"]
    peers = {OPTIMIZER: lambda: ramp_peers.ThresholdOptimizer(criterion).fit(fresh)}
    if criterion == "statistical_parity":
        peers[SGD] = lambda: ramp_peers.Sgd().fit(fresh, seed=seed)
    for name, make in peers.items():
        fitted = make()
        found[name] = judged(fitted.approve(test), test, criterion)
        found[name]["fitting bias"] = judged(fitted.approve(fresh), fresh, criterion)["bias"]
    if SGD in found:  # the SGD's remaining bias buys accuracy: ours with the same bias
        left = min(found[SGD]["fitting bias"], 1.0)
        found["ours, bias as the SGD's"] = judged(
            ours(peer, folder, fresh, test, criterion, left)[1], test, criterion)
    found["unmodified"] = judged((test.score >= 0.5).astype(float), test, criterion)
    return found


def scores(name, grouped, seed, peer, folder, known={}):
    """Scores, cached: the figure uses the same ones as the accuracy part."""
    if (name, seed) not in known:
        known[name, seed] = ramp_data.scored(name, grouped, seed, peer, folder)
    return known[name, seed]


def accuracy(options, peer, folder):
    results = []
    for name in options.table:
        grouped, _ = ramp_data.load(name, options.data, options.most_rows)
        if grouped is None:
            say(f"{name}: no file in {options.data}, left out")
            continue
        for seed in range(options.splits):
            scored, _ = scores(name, grouped, seed, peer, folder)
            for model, (fresh, test) in scored.items():
                for criterion in options.criterion:
                    results.append({"table": name, "model": model, "criterion": criterion,
                                    "seed": seed, "found": one(peer, folder, fresh, test, criterion,
                                                               seed)})
            say(f"accuracy {name}: split {seed + 1} of {options.splits}")
    return results


def big_problem(n, seed=1):
    """Four groups of different sizes with different score distributions."""
    random = np.random.default_rng(seed)
    group = random.choice(4, size=n, p=(0.4, 0.3, 0.2, 0.1))
    score = 1 / (1 + np.exp(-(1.2 * random.normal(size=n) + 0.5 * group - 1)))
    return ramp_data.Scored(score, random.random(n) < score, group)


def cost(options, peer, folder):
    """CPU seconds of one fit for statistical parity, epsilon 0, gamma 0.1; the SGD's rho E[y]."""
    rows, none = big_problem(options.rows), big_problem(0)
    problem = folder / "big"
    ramp_data.write_problem(problem, rows, none)
    cells = [(0.1, float(rows.label.mean()))]
    # loading is not part of the cost
    ramp_peers.ThresholdOptimizer("statistical_parity").fit(big_problem(1000))
    seconds = {OURS: [], OPTIMIZER: [], SGD: []}
    for turn in range(options.rounds):
        seconds[OURS].append(ramp_data.answer([peer, "time", "--problem", problem])["cpu"])
        start = time.process_time()
        ramp_peers.ThresholdOptimizer("statistical_parity").fit(rows)
        seconds[OPTIMIZER].append(time.process_time() - start)
        start = time.process_time()
        ramp_peers.Sgd.thresholds(rows, cells, 0.0, turn)
        seconds[SGD].append(time.process_time() - start)
        say(f"cost, round {turn + 1} of {options.rounds}: " + ", ".join(
            f"{name} {values[-1]:.3f} s" for name, values in seconds.items()))
    return seconds


def figure(options, peer, folder):
    """Bias between the sexes inside each race of Adult, before and after parity (Figure 1)."""
    grouped, rows = ramp_data.load("adult", options.data, options.most_rows)
    if grouped is None:
        say(f"figure: no adult.csv.gz in {options.data}, left out")
        return []
    race, names = ramp_data.races(options.data, rows)
    bars = []
    for seed in range(options.splits):
        scored, (fresh_rows, test_rows) = scores("adult", grouped, seed, peer, folder)
        for model, (fresh, test) in scored.items():
            both = [part.group.astype(int) * len(names) + race[at]
                    for part, at in ((fresh, fresh_rows), (test, test_rows))]
            crossed = [part.with_group(group) for part, group in zip((fresh, test), both)]
            approvals = {
                "before": (test.score >= 0.5).astype(float),
                "parity between the sexes": ours(
                    peer, folder, fresh, test, "statistical_parity")[1],
                "parity between sex and race": ours(
                    peer, folder, *crossed, "statistical_parity")[1],
            }
            for kind, approve in approvals.items():
                for code, race_name in enumerate([*names, "all"]):
                    inside = (race[test_rows] == code) | (race_name == "all")
                    rates = [approve[inside & (test.group == k)] for k in (0, 1)]
                    bars.append({"model": model, "race": race_name, "kind": kind, "seed": seed,
                                 "rows": int(inside.sum()),
                                 "difference": float(rates[1].mean() - rates[0].mean())})
        say(f"figure: split {seed + 1} of {options.splits}")
    return bars


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--options", required=True, help="what run was told, as JSON")
    options = argparse.Namespace(**json.loads(parser.parse_args().options))
    options.data = pathlib.Path(options.data)
    warnings.filterwarnings("ignore")
    folder = pathlib.Path(options.dir)
    load = os.getloadavg()[0]
    if load > 0.5:
        say(f"the machine is busy (load {load:.1f}): only ratios mean something")
    result = {"load": load, "rows": [], "splits": [], "figure": []}
    with tempfile.TemporaryDirectory(prefix="work-", dir=folder) as work:
        work = pathlib.Path(work)
        if "accuracy" in options.only:
            result["splits"] = accuracy(options, options.peer, work)
            result["rows"] += ramp_judge.accuracy_rows(result["splits"])
        if "cost" in options.only:
            seconds = cost(options, options.peer, work)
            result["seconds"] = seconds
            result["rows"] += ramp_judge.cost_rows(seconds, options.rows)
        if "figure" in options.only:
            result["figure"] = figure(options, options.peer, work)
    if result["figure"]:
        ramp_figure.write(result["figure"], folder)
        say(f"the figure: {folder / 'subgroups.html'}, {folder / 'subgroups.csv'}")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(ramp_judge.as_table(result["rows"]))


if __name__ == "__main__":
    main()
