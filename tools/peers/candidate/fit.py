"""Trains LightGBM on the rows of an exported log that have an outcome: LOG SCHEMA MODEL."""
import json
import re
import sys

import lightgbm
import numpy
import pandas


def main():
    log, schema_file, out = sys.argv[1:]
    schema = open(schema_file, encoding="utf-8").read()
    names = re.findall(r'(?m)^name = "([^"]+)"', schema)
    categories = dict(re.findall(
        r'(?m)^name = "([^"]+)".*\nkind = "categorical"\ncategories = (\[.*\])', schema))
    rows = pandas.read_csv(log, dtype={f"x.{name}": str for name in categories})
    rows = rows[rows["label"].notna()]
    features = pandas.DataFrame({name: rows[f"x.{name}"] for name in names})
    for name, listed in categories.items():
        features[name] = pandas.Categorical(features[name], categories=json.loads(listed)).codes
    held = numpy.random.default_rng(1).random(len(rows)) < 0.2
    label, weight = rows["label"].astype(int), rows["weight"]
    train = lightgbm.Dataset(features[~held], label[~held], weight=weight[~held],
                             categorical_feature=list(categories))
    judge = lightgbm.Dataset(features[held], label[held], weight=weight[held], reference=train)
    model = lightgbm.train({"objective": "binary", "learning_rate": 0.05, "num_leaves": 15,
                            "lambda_l2": 1, "seed": 1, "num_threads": 1, "verbose": -1},
                           train, 500, valid_sets=[judge],
                           callbacks=[lightgbm.early_stopping(20, verbose=False)])
    model.save_model(out)


if __name__ == "__main__":
    main()
