#!/usr/bin/env python3
"""Models of LightGBM and XGBoost in and out of `rampart`, compared with the libraries themselves."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import bench

DESCRIPTION = """
Installs the peers' packages (requirements.txt) into build/peers/gbdt where they are not, trains small models of many kinds
with them, and checks on 2,000 rows, some values missing:
  import   `rampart import`, then the log loss that `rampart evaluate` finds with our engine
  export   `rampart export`, then the raw scores that LightGBM itself gives for the file
LightGBM's scores have to come back to the last bit, XGBoost's to its own rounding (it adds floats).
Exit code 0: all agree; 1: something does not; 3: the packages cannot be had here.
--golden FOLDER also writes the models and scores that the unit tests compare with.
"""
NAMES = ["income", "open lines", "age", "region"]
REGIONS = 12


def table(rows, seed):
    import numpy as np
    random = np.random.default_rng(seed)
    x = np.column_stack([random.normal(size=rows), random.integers(0, 6, rows),
                         random.exponential(size=rows), random.integers(0, REGIONS, rows)])
    x = x.astype(np.float32)
    x[random.random(rows) < 0.2, 0] = np.nan
    x[random.random(rows) < 0.1, 3] = np.nan
    effect = np.random.default_rng(1).normal(size=REGIONS)
    region = np.nan_to_num(x[:, 3], nan=4).astype(int)
    raw = np.nan_to_num(x[:, 0], nan=0.7) - 0.3 * x[:, 1] + np.sin(3 * x[:, 2]) / 2 + effect[region]
    return x, (random.random(rows) < 1 / (1 + np.exp(-raw))).astype(int)


def lightgbm_model(settings, x, y, rounds, columns):
    import lightgbm
    settings = {"objective": "binary", "verbose": -1, "seed": 1, "num_threads": 1,
                "deterministic": True, "cat_smooth": 1, **settings}
    names = [NAMES[c].replace(" ", "_") for c in columns]
    data = lightgbm.Dataset(x[:, columns], y, feature_name=names,
                            categorical_feature=[columns.index(3)] if 3 in columns else [])
    return lightgbm.train(settings, data, rounds)


def xgboost_table(x, columns, y=None):
    import xgboost
    return xgboost.DMatrix(x[:, columns], y, feature_names=[NAMES[c] for c in columns],
                           feature_types=["c" if c == 3 else "q" for c in columns],
                           enable_categorical=True)


def xgboost_model(settings, x, y, rounds, columns):
    import xgboost
    settings = {"objective": "binary:logistic", "seed": 1, "nthread": 1, "tree_method": "hist",
                **settings}
    return xgboost.train(settings, xgboost_table(x, columns, y), rounds)


def write_schema(path):
    lines = ['label = "y"', 'favourable = "1"']
    # not in the models' order
    for name in reversed(NAMES):
        lines += ["[[feature]]", f'name = "{name}"']
        if name == "region":
            codes = ", ".join(f'"{code}"' for code in range(REGIONS))
            lines += ['kind = "categorical"', f"categories = [{codes}]"]
        else:
            lines += ['kind = "numeric"']
    path.write_text("\n".join(lines) + "\n")


def write_csv(path, x, y):
    def text(value):
        return "" if value != value else repr(float(value))
    lines = [",".join(NAMES + ["y"])]
    for row, label in zip(x, y):
        lines.append(",".join([text(v) for v in row] + [str(label)]))
    path.write_text("\n".join(lines) + "\n")


def log_loss(raw, y):
    import numpy as np
    return float(np.mean(np.logaddexp(0, np.where(y == 1, -raw, raw))))


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong = program, folder, 0
        self.x, self.y = table(2000, 2)
        write_schema(folder / "schema.toml")
        write_csv(folder / "rows.csv", self.x, self.y)

    def run(self, *arguments):
        done = subprocess.run([self.program, *arguments, "--json"], check=False, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"rampart {' '.join(arguments)}: {done.stdout} {done.stderr}")
        return json.loads(done.stdout)

    def say(self, what, good, detail):
        self.wrong += not good
        print(f"{'agrees' if good else 'DIFFERS'}  {what}: {detail}")

    def both_ways(self, what, source, file, raw, tolerance):
        """raw: the library's raw scores of the rows, in the order of NAMES."""
        import lightgbm
        import numpy as np
        self.run("import", "--from", source, "--model", file, "--schema", "schema.toml",
                 "--out", "m.rmp")
        ours = self.run("evaluate", "--model", "m.rmp", "--data", "rows.csv", "--schema",
                        "schema.toml", "--split", "all")["log_loss"]
        theirs = log_loss(raw.astype(float), self.y)
        self.say(f"{what}, imported", abs(ours - theirs) <= max(tolerance, 1e-12),
                 f"log loss {ours:.9f} and {theirs:.9f}")
        self.run("export", "--to", "lightgbm", "--model", "m.rmp", "--out", "back.txt")
        back = lightgbm.Booster(model_file=str(self.folder / "back.txt"))
        worst = float(np.max(np.abs(back.predict(self.x[:, ::-1], raw_score=True) - raw)))
        self.say(f"{what}, exported again", worst <= tolerance, f"largest difference {worst:g}")


def check(program, folder):
    import numpy as np
    x, y = table(5000, 1)
    to = Check(program, folder)
    numeric, every = [0, 1, 2], [0, 1, 2, 3]
    zeroed = np.nan_to_num(x, nan=0.0)
    for what, settings, columns, data in [
            ("numbers", {"num_leaves": 31}, numeric, x),
            ("numbers and categories", {"num_leaves": 31}, every, x),
            ("one category against the rest", {"max_cat_to_onehot": 50}, every, x),
            ("missing values not told apart", {"use_missing": False}, numeric, x),
            ("large trees", {"num_leaves": 400, "min_data_in_leaf": 2}, every, x),
            ("trained without missing values", {"num_leaves": 15}, numeric, zeroed),
            ("stumps", {"num_leaves": 2}, every, x),
            ("nothing to split", {"min_data_in_leaf": 4000}, every, x)]:
        model = lightgbm_model(settings, data, y, 40, columns)
        model.save_model(str(folder / "model.txt"))
        raw = model.predict(to.x[:, columns], raw_score=True)
        to.both_ways(f"LightGBM, {what}", "lightgbm", "model.txt", raw, 0)
    for what, settings, columns in [
            ("numbers", {"max_depth": 5}, numeric),
            ("numbers and categories", {"max_depth": 5, "max_cat_to_onehot": 2}, every),
            ("one category against the rest", {"max_cat_to_onehot": 50}, every),
            ("a base score", {"base_score": 0.2}, every),
            ("leaf-wise", {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}, every),
            ("several trees a round", {"num_parallel_tree": 3, "subsample": 0.5}, every)]:
        model = xgboost_model(settings, x, y, 40, columns)
        model.save_model(str(folder / "model.json"))
        raw = model.predict(xgboost_table(to.x, columns), output_margin=True)
        to.both_ways(f"XGBoost, {what}", "xgboost", "model.json", raw, 1e-5)
    return to.wrong


def write_golden(folder):
    x, y = table(3000, 5)
    every, rows = [0, 1, 2, 3], x[:60]
    light = lightgbm_model({"num_leaves": 8, "learning_rate": 0.3, "max_cat_to_onehot": 1,
                            "min_data_per_group": 20}, x, y, 6, every)
    light.save_model(str(folder / "lightgbm.txt"))
    xgb = xgboost_model({"max_depth": 3, "eta": 0.3, "base_score": 0.4, "max_cat_to_onehot": 2},
                        x, y, 6, every)
    xgb.save_model(str(folder / "xgboost.json"))
    scores = zip(rows, light.predict(rows, raw_score=True),
                 xgb.predict(xgboost_table(rows, every), output_margin=True))
    lines = [f"# {', '.join(NAMES)}; raw scores of LightGBM 4.6.0 and of XGBoost 2.1.4"]
    for row, a, b in scores:
        lines.append(" ".join(repr(float(v)) for v in [*row, a, b]))
    (folder / "scores.txt").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rampart", help="the program; default: build/release/bin/rampart",
                        default=bench.ROOT / "build/release/bin/rampart", type=pathlib.Path)
    parser.add_argument("--golden", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        try:
            python = bench.install(bench.ROOT / "build/peers/gbdt/venv")
        except SystemExit as error:
            print(f"skipped: {error}", file=sys.stderr)
            return 3
        again = [str(python), __file__, "--inside", *sys.argv[1:]]
        return subprocess.run(again, check=False).returncode
    if options.golden:
        write_golden(options.golden)
    with tempfile.TemporaryDirectory() as folder:
        wrong = check(options.rampart.resolve(), pathlib.Path(folder))
    print("all agree" if wrong == 0 else f"{wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
