"""Measures of decisions in Vargo et al. (2021): balanced accuracy, consistency, gaps between
groups."""
import numpy as np


def rates(decided, label):
    """TPR and TNR."""
    return decided[label == 1].mean(), (~decided[label == 0]).mean()


def gaps(decided, label, group):
    one, other = (rates(decided[group == k], label[group == k]) for k in (False, True))
    tpr, tnr = abs(one[0] - other[0]), abs(one[1] - other[1])
    return {"max": max(tpr, tnr), "rms": float(np.sqrt((tpr ** 2 + tnr ** 2) / 2))}


def judged(test, scores, copies):
    """scores: of the test rows; copies: {name: [scores of each copy]}. A score of at least 0
    decides 1."""
    decided = scores > 0
    tpr, tnr = rates(decided, test.label)
    out = {"accuracy": float((decided == (test.label == 1)).mean()),
           "balanced accuracy": float((tpr + tnr) / 2)}
    for name, several in copies.items():
        same = np.stack([other > 0 for other in several])
        out[name] = float((same.all(axis=0) | (~same).all(axis=0)).mean())
    for name, group in test.groups.items():
        found = gaps(decided, test.label, np.asarray(group, dtype=bool))
        out |= {f"{name} max": float(found["max"]), f"{name} RMS": float(found["rms"])}
    return out
