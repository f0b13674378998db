"""Trains with one peer on a table file and prints one JSON object: seconds of building the
library's own data set (that is, binning) and of training, wall and CPU, and memory, as peer_gbdt
does."""
import argparse
import json
import time

import numpy as np


def status(name):
    with open("/proc/self/status", encoding="ascii") as file:
        return next((int(line.split()[1]) for line in file if line.startswith(name)), 0)


def reset_peak():
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass  # then the earlier peak counts, which is lower than training's


class Clock:
    def __init__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def seconds(self):
        return time.perf_counter() - self.wall, time.process_time() - self.cpu


class LightGbm:
    def __init__(self, options):
        import lightgbm
        self.library = lightgbm
        self.trees = options.trees
        self.params = {"objective": "binary", "verbosity": -1, "num_threads": options.threads,
                       "seed": options.seed}
        if not options.defaults:
            self.params |= {"num_leaves": options.leaves, "max_bin": options.bins,
                            "learning_rate": options.learning_rate,
                            "min_data_in_leaf": options.min_rows}

    def build(self, table):
        categorical = [j for j, c in enumerate(table.categories) if c > 0]
        names = [f"x{j}" for j in range(len(table.columns))]
        self.data = self.library.Dataset(table.columns.T, label=table.label, params=self.params,
                                         feature_name=names, categorical_feature=categorical)
        self.data.construct()

    def train(self):
        self.model = self.library.train(self.params, self.data, num_boost_round=self.trees)

    def predict(self, table):
        return self.model.predict(table.columns.T, raw_score=True)

    def save(self, path):
        self.model.save_model(path)


class XgBoost:
    def __init__(self, options):
        import xgboost
        self.library = xgboost
        self.trees, self.threads = options.trees, options.threads
        self.params = {"objective": "binary:logistic", "tree_method": "hist", "verbosity": 0,
                       "nthread": options.threads, "seed": options.seed}
        self.bins = 256
        if not options.defaults:
            self.bins = options.bins
            self.params |= {"grow_policy": "lossguide", "max_leaves": options.leaves,
                            "max_depth": 0, "max_bin": options.bins, "eta": options.learning_rate,
                            "lambda": 0}

    def matrix(self, table, kind, **more):
        types = ["c" if c > 0 else "q" for c in table.categories]
        return kind(table.columns.T, label=table.label, feature_types=types,
                    enable_categorical=True, nthread=self.threads, **more)

    def build(self, table):
        self.data = self.matrix(table, self.library.QuantileDMatrix, max_bin=self.bins)

    def train(self):
        self.model = self.library.train(self.params, self.data, num_boost_round=self.trees)

    def predict(self, table):
        return self.model.predict(self.matrix(table, self.library.DMatrix), output_margin=True)

    def save(self, path):
        self.model.save_model(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["lightgbm", "xgboost"])
    parser.add_argument("--data", required=True)
    parser.add_argument("--test")
    parser.add_argument("--predictions")
    parser.add_argument("--model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--bins", type=int, default=255)
    parser.add_argument("--learning-rate", type=float, default=0.1)
    parser.add_argument("--min-rows", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--defaults", action="store_true", help="of the library, and 100 trees")
    options = parser.parse_args()
    import tables
    peer = {"lightgbm": LightGbm, "xgboost": XgBoost}[options.library](options)

    start_kib = status("VmRSS")
    clock = Clock()
    table = tables.Table.read(options.data)
    load, _ = clock.seconds()
    loaded_kib = status("VmRSS")
    reset_peak()
    clock = Clock()
    peer.build(table)
    build, build_cpu = clock.seconds()
    clock = Clock()
    peer.train()
    boost, boost_cpu = clock.seconds()
    peak_kib = status("VmHWM")
    if options.test:
        scores = peer.predict(tables.Table.read(options.test))
        np.asarray(scores, dtype="<f8").tofile(options.predictions)
    if options.model:
        peer.save(options.model)
    print(json.dumps({"load": load, "total": build + boost, "total_cpu": build_cpu + boost_cpu,
                      "boost": boost, "boost_cpu": boost_cpu, "trees": options.trees,
                      "start_kib": start_kib, "loaded_kib": loaded_kib, "peak_kib": peak_kib}))


if __name__ == "__main__":
    main()
