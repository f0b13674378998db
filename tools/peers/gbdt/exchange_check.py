#!/usr/bin/env python3
"""Models of LightGBM, XGBoost and ONNX in and out of `rampart`, beside the libraries themselves."""
import argparse
import csv
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import bench

DESCRIPTION = """
Installs the peers' packages (requirements.txt, onnx_requirements.txt) into build/peers/gbdt where
they are not, trains small models of many kinds with them, and checks on 2,000 made-up rows, some
values missing, and on public tables that are there:
  import   `rampart import`, then the log loss that `rampart evaluate` finds with our engine; of
           XGBoost's two formats, JSON and UBJSON, which have to give the same scores
  export   `rampart export`, then the raw scores that LightGBM and ONNX Runtime give for the files,
           also for values on thresholds and on the floats beside them
  refused  models that are not converted: by name, in both formats
LightGBM's scores have to come back to the last bit, XGBoost's to its own rounding (it adds floats):
1e-5 of the raw score of 40 trees; scores of public tables and of ONNX Runtime to 1e-6.
Exit code 0: all agree; 1: something does not; 3: the packages cannot be had here (if it is ONNX
Runtime alone, the rest is checked).
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


def write_schema(path, names, categories):
    """categories: by name, how many codes the feature has; 0: it is a number."""
    lines = ['label = "y"', 'favourable = "1"']
    for name in names:
        lines += ["[[feature]]", f'name = "{name}"']
        if categories[name] > 0:
            codes = ", ".join(f'"{code}"' for code in range(categories[name]))
            lines += ['kind = "categorical"', f"categories = [{codes}]"]
        else:
            lines += ['kind = "numeric"']
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_csv(path, names, x, y):
    def text(value):
        return "" if value != value else repr(float(value))
    lines = [",".join([*names, "y"])]
    for row, label in zip(x, y):
        lines.append(",".join([text(v) for v in row] + [str(int(label))]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def onnx_scores(file, rows):
    """Raw scores and probabilities of float32 rows in the schema's order."""
    import numpy as np
    import onnxruntime
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    found = session.run(["raw_score", "probability"], {"features": rows.astype(np.float32)})
    return found[0][:, 0].astype(float), found[1][:, 0].astype(float)


def beside_thresholds(rows, text, categories):
    """Rows with values on thresholds of a LightGBM text, and on the floats on both sides."""
    import numpy as np
    random = np.random.default_rng(3)
    thresholds = {}
    for tree in text.split("Tree=")[1:]:
        at = re.search(r"split_feature=(.*)\n", tree), re.search(r"threshold=(.*)\n", tree)
        if all(at):
            for feature, value in zip(at[0][1].split(), at[1][1].split()):
                thresholds.setdefault(int(feature), []).append(np.float32(value))
    out = rows.copy()
    for feature, values in thresholds.items():
        if categories[feature] > 0:
            continue
        near = np.array([f for v in values for f in (v, np.nextafter(v, np.float32(-np.inf)),
                                                     np.nextafter(v, np.float32(np.inf)))])
        # LightGBM, which the scores are compared with, takes what is nearer to 0 for 0
        near = near[(near == 0) | (np.abs(near) > 1e-35)]
        chosen = random.random(len(out)) < 0.5
        out[chosen, feature] = random.choice(near, int(chosen.sum()))
    return out


def log_loss(raw, y):
    import numpy as np
    return float(np.mean(np.logaddexp(0, np.where(y == 1, -raw, raw))))


class Check:
    def __init__(self, program, folder):
        self.program, self.folder, self.wrong = program, folder, 0
        self.onnx = importlib.util.find_spec("onnxruntime") is not None
        x, y = table(2000, 2)
        # not in the models' order
        self.use(NAMES[::-1], [REGIONS, 0, 0, 0], x[:, ::-1], y)

    def use(self, names, categories, x, y):
        """Takes rows in the schema's order; categories as codes."""
        self.x, self.y, self.categories = x, y, categories
        write_schema(self.folder / "schema.toml", names, dict(zip(names, categories)))
        write_csv(self.folder / "rows.csv", names, x, y)

    def rampart(self, *arguments):
        return subprocess.run([self.program, *arguments, "--json"], check=False, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *arguments):
        done = self.rampart(*arguments)
        if done.returncode != 0:
            raise RuntimeError(f"rampart {' '.join(arguments)}: {done.stdout} {done.stderr}")
        return json.loads(done.stdout)

    def say(self, what, good, detail):
        self.wrong += not good
        print(f"{'agrees' if good else 'DIFFERS'}  {what}: {detail}", flush=True)

    def take_in(self, source, file):
        self.run("import", "--from", source, "--model", file, "--schema", "schema.toml",
                 "--out", "m.rmp")

    def both_ways(self, what, source, file, raw, tolerance):
        """raw: the library's raw scores of the rows."""
        import numpy as np
        self.take_in(source, file)
        ours = self.run("evaluate", "--model", "m.rmp", "--data", "rows.csv", "--schema",
                        "schema.toml", "--split", "all")["log_loss"]
        theirs = log_loss(raw.astype(float), self.y)
        self.say(f"{what}, imported", abs(ours - theirs) <= max(tolerance, 1e-12),
                 f"log loss {ours:.9f} and {theirs:.9f}")
        back = self.exported()
        worst = float(np.max(np.abs(back.predict(self.x, raw_score=True) - raw)))
        self.say(f"{what}, exported again", worst <= tolerance, f"largest difference {worst:g}")
        self.to_onnx(what, back)

    def exported(self):
        import lightgbm
        self.run("export", "--to", "lightgbm", "--model", "m.rmp", "--out", "back.txt")
        return lightgbm.Booster(model_file=str(self.folder / "back.txt"))

    def to_onnx(self, what, back):
        """Compares ONNX Runtime with LightGBM, whose scores are ours to the last bit."""
        import numpy as np
        if not self.onnx:
            return
        self.run("export", "--to", "onnx", "--model", "m.rmp", "--out", "m.onnx")
        text = (self.folder / "back.txt").read_text(encoding="utf-8")
        rows = np.concatenate([self.x, beside_thresholds(self.x, text, self.categories)])
        raw, p = onnx_scores(self.folder / "m.onnx", rows)
        theirs = back.predict(rows, raw_score=True)
        worst = max(float(np.max(np.abs(raw - theirs))),
                    float(np.max(np.abs(p - 1 / (1 + np.exp(-theirs))))))
        self.say(f"{what}, in ONNX Runtime", worst <= 1e-6, f"largest difference {worst:g}")

    def xgboost_formats(self, what, model):
        """Saves a model in both formats, which are one model to us."""
        scores = []
        for name in ("model.json", "model.ubj"):
            model.save_model(str(self.folder / name))
            self.take_in("xgboost", name)
            scores.append(self.scored())
        self.say(f"{what}, JSON and UBJSON", scores[0] == scores[1], "the same scores")

    def refused(self, what, model, words):
        for name in ("model.json", "model.ubj"):
            model.save_model(str(self.folder / name))
            done = self.rampart("import", "--from", "xgboost", "--model", name, "--schema",
                                "schema.toml", "--out", "m.rmp")
            self.say(f"{what}, {name} refused", done.returncode == 2 and words in done.stdout,
                     words)

    def scored(self):
        """The scores of `rampart score`, row by row."""
        self.run("score", "--model", "m.rmp", "--data", "rows.csv", "--out", "scores.csv")
        with open(self.folder / "scores.csv", encoding="utf-8", newline="") as file:
            return [float(row["score"]) for row in csv.DictReader(file)]


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
        raw = model.predict(to.x[:, ::-1][:, columns], raw_score=True)
        to.both_ways(f"LightGBM, {what}", "lightgbm", "model.txt", raw, 0)
    for what, settings, columns in [
            ("numbers", {"max_depth": 5}, numeric),
            ("numbers and categories", {"max_depth": 5, "max_cat_to_onehot": 2}, every),
            ("one category against the rest", {"max_cat_to_onehot": 50}, every),
            ("a base score", {"base_score": 0.2}, every),
            ("leaf-wise", {"grow_policy": "lossguide", "max_leaves": 31, "max_depth": 0}, every),
            ("several trees a round", {"num_parallel_tree": 3, "subsample": 0.5}, every)]:
        model = xgboost_model(settings, x, y, 40, columns)
        raw = model.predict(xgboost_table(to.x[:, ::-1], columns), output_margin=True)
        to.xgboost_formats(f"XGBoost, {what}", model)
        to.both_ways(f"XGBoost, {what}", "xgboost", "model.ubj", raw, 1e-5)
    to.refused("XGBoost, DART", xgboost_model({"booster": "dart"}, x, y, 3, numeric), "'dart'")
    to.refused("XGBoost, three classes",
               xgboost_model({"objective": "multi:softprob", "num_class": 3}, x, y, 3, numeric),
               "several classes")
    return to


def check_doubles(to):
    """Doubles that are no floats: who rounds them to float32 first gets our scores."""
    import numpy as np
    if not to.onnx:
        return
    x, y = table(2000, 4)
    text = (to.folder / "back.txt").read_text(encoding="utf-8")
    rows = beside_thresholds(x[:, ::-1].copy(), text, to.categories).astype(float)
    random = np.random.default_rng(5)
    for column in range(1, 4):
        rows[:, column] *= 1 + 6e-8 * random.uniform(-1, 1, len(rows))
    to.use(NAMES[::-1], to.categories, rows, y)
    _, p = onnx_scores(to.folder / "m.onnx", rows)
    worst = float(np.max(np.abs(p - to.scored())))
    to.say("doubles, rounded to float32", worst <= 1e-6, f"largest difference {worst:g}")


def check_public(to, data):
    """XGBoost's probabilities of public tables, category columns included, and ours, row by row."""
    import numpy as np
    import xgboost

    import tables
    for name in ("adult", "default_credit_card", "lendingclub_2018"):
        found = tables.public(name, data)
        if found is None:
            print(f"skipped  {name}: its file is not in {data}")
            continue
        x = np.column_stack([np.asarray(c, np.float32) for c in found.columns])[:30000]
        y = np.asarray(found.label, int)[:30000]
        names = [f"c{i}" for i in range(x.shape[1])]
        to.use(names, list(found.categories), x, y)
        matrix = xgboost.DMatrix(x, y, feature_names=names, enable_categorical=True,
                                 feature_types=["c" if c else "q" for c in found.categories])
        model = xgboost.train({"objective": "binary:logistic", "max_depth": 6, "seed": 1,
                               "tree_method": "hist", "nthread": 1}, matrix, 60)
        to.xgboost_formats(f"XGBoost, {name}", model)
        to.take_in("xgboost", "model.ubj")
        worst = float(np.max(np.abs(model.predict(matrix) - to.scored())))
        to.say(f"XGBoost, {name}, {len(y)} rows", worst <= 1e-6, f"largest difference {worst:g}")
        to.to_onnx(f"XGBoost, {name}", to.exported())


def write_golden(folder):
    x, y = table(3000, 5)
    every, rows = [0, 1, 2, 3], x[:60]
    light = lightgbm_model({"num_leaves": 8, "learning_rate": 0.3, "max_cat_to_onehot": 1,
                            "min_data_per_group": 20}, x, y, 6, every)
    light.save_model(str(folder / "lightgbm.txt"))
    xgb = xgboost_model({"max_depth": 3, "eta": 0.3, "base_score": 0.4, "max_cat_to_onehot": 2},
                        x, y, 6, every)
    xgb.save_model(str(folder / "xgboost.json"))
    xgb.save_model(str(folder / "xgboost.ubj"))
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
    parser.add_argument("--data", default=bench.ROOT.parent / "shared" / "data", type=pathlib.Path,
                        help="folder of the public tables; default: ../shared/data")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.inside:
        try:
            python = bench.install(bench.ROOT / "build/peers/gbdt/venv")
        except SystemExit as error:
            print(f"skipped: {error}", file=sys.stderr)
            return 3
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
               "--no-deps", "--require-hashes", "-r", bench.HERE / "onnx_requirements.txt"]
        had = subprocess.run(pip, check=False, stdout=sys.stderr).returncode == 0
        again = [str(python), __file__, "--inside", *sys.argv[1:]]
        code = subprocess.run(again, check=False).returncode
        if not had:
            print("skipped: ONNX Runtime could not be installed: see above", file=sys.stderr)
        return 3 if code == 0 and not had else code
    if options.golden:
        write_golden(options.golden)
    with tempfile.TemporaryDirectory() as folder:
        to = check(options.rampart.resolve(), pathlib.Path(folder))
        check_doubles(to)
        check_public(to, options.data)
    print("all agree" if to.wrong == 0 else f"{to.wrong} differ")
    return 1 if to.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
