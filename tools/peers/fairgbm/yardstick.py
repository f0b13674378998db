"""Decisions from scores, and their measures: the same for all learners."""
import numpy as np


def threshold(scores, labels, operate):
    """Threshold: 0, or the one at which the rate on the validation rows just holds: `fpr=0.05`,
    `statistical_parity=0.2`."""
    if operate is None:
        return 0.0
    rate, most = operate.split("=")
    speaks = scores[labels == 0] if rate == "fpr" else scores
    allowed = int(np.floor(float(most) * len(speaks) + 1e-9))
    ordered = np.sort(speaks)[::-1]
    return np.nextafter(ordered[allowed], np.inf) if allowed < len(ordered) else -np.inf


def figures(approved, part, constraint, operate):
    """Performance (accuracy, or recall at the operating point) and gap of a rate between groups.
    approved: P(approve), in [0, 1]."""
    labels, group = part.table.label, part.group
    spoken = labels == (1 if constraint == "FNR" else 0)
    rates = [approved[spoken & (group == k)].mean() for k in range(int(group.max()) + 1)]
    if operate is None:
        performance = np.where(labels == 1, approved, 1 - approved).mean()
    else:
        performance = approved[labels == 1].mean()
    return {"performance": float(performance), "gap": float(max(rates) - min(rates))}


def judged(parts, scores, constraint, operate):
    cut = threshold(scores[0], parts[0].table.label, operate)
    return {name: figures((score >= cut).astype(float), part, constraint, operate)
            for name, part, score in zip(("validation", "test"), parts, scores)}
