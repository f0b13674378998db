"""Trains LightGBM on the rows of an exported log that have an outcome: LOG SCHEMA MODEL TREES
LEAVES."""
import csv
import math
import sys
import tomllib

import lightgbm
import numpy


def main():
    log, schema_file, out, trees, leaves = sys.argv[1:]
    with open(schema_file, "rb") as file:
        features = tomllib.load(file)["feature"]
    with open(log, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["label"]]
    table = numpy.full((len(rows), len(features)), math.nan)
    for j, feature in enumerate(features):
        codes = {name: code for code, name in enumerate(feature.get("categories", []))}
        for i, row in enumerate(rows):
            cell = row[f"x.{feature['name']}"]
            if cell:
                table[i, j] = codes.get(cell, math.nan) if codes else float(cell)
    data = lightgbm.Dataset(
        table, numpy.array([int(row["label"]) for row in rows]),
        weight=numpy.array([float(row["weight"]) for row in rows]),
        feature_name=[feature["name"] for feature in features],
        categorical_feature=[j for j, x in enumerate(features) if x["kind"] == "categorical"])
    model = lightgbm.train({"objective": "binary", "learning_rate": 0.05, "num_leaves": int(leaves),
                            "lambda_l2": 1, "seed": 1, "num_threads": 1,
                            "verbose": -1}, data, int(trees))
    model.save_model(out)


if __name__ == "__main__":
    main()
