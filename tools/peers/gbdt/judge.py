"""AUC and log loss of raw scores: judge.py TABLE SCORES… prints a JSON list of {auc, log_loss}."""
import json
import sys

import numpy as np

import tables


def auc(label, scores):
    """The Mann-Whitney statistic; ties count half."""
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2.0
    ones = label.sum()
    rank_sum = ranks[inverse][label == 1].sum()
    return float((rank_sum - ones * (ones + 1) / 2) / (ones * (len(label) - ones)))


def log_loss(label, scores):
    return float(np.mean(np.logaddexp(0, scores) - label * scores))


def main():
    label = tables.Table.read(sys.argv[1]).label.astype(np.float64)
    out = []
    for path in sys.argv[2:]:
        scores = np.fromfile(path, dtype="<f8")
        if len(scores) != len(label):
            sys.exit(f"judge: {path} has {len(scores)} scores, the table {len(label)} rows")
        out.append({"auc": auc(label, scores), "log_loss": log_loss(label, scores)})
    print(json.dumps(out))


if __name__ == "__main__":
    main()
