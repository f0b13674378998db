"""The peers: fairlearn's ThresholdOptimizer, and the paper's SGD procedure said in numpy."""
import numpy as np

GAMMAS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
AROUND = (0.0, 0.05, -0.05, 0.1, -0.1)
STEPS, BATCH, POLISH = 10_000, 256, 1_000

CRITERIA = {"statistical_parity": "demographic_parity",
            "equal_opportunity": "true_positive_rate_parity",
            "equalized_odds": "equalized_odds"}


class Given:
    """A classifier whose only feature is what it says."""

    classes_ = np.array([0, 1])

    def fit(self, x, y):
        return self

    def predict_proba(self, x):
        p = np.asarray(x, dtype=np.float64).reshape(-1)
        return np.column_stack([1 - p, p])

    def predict(self, x):
        return (self.predict_proba(x)[:, 1] >= 0.5).astype(int)

    def get_params(self, deep=True):
        return {}

    def set_params(self, **_):
        return self

    def __sklearn_is_fitted__(self):
        return True


class ThresholdOptimizer:
    """fairlearn's, with its defaults, for accuracy."""

    def __init__(self, criterion):
        from fairlearn.postprocessing import ThresholdOptimizer as Optimizer
        self.fitted = Optimizer(estimator=Given(), constraints=CRITERIA[criterion],
                                objective="accuracy_score", prefit=True,
                                predict_method="predict_proba")

    def fit(self, rows):
        self.fitted.fit(rows.score.reshape(-1, 1), rows.label.astype(int),
                        sensitive_features=rows.group.astype(int))
        return self

    def approve(self, rows):
        return self.fitted._pmf_predict(rows.score.reshape(-1, 1),
                                        sensitive_features=rows.group.astype(int))[:, 1]


def ramp_mean(scores, t, gamma):
    """Mean over rows of clip((f - t) / gamma, 0, 1), by cell."""
    return np.clip((scores[:, None] - t) / gamma, 0, 1).mean(axis=0)


def ramp_mean_of_sorted(f):
    """The same for all rows of f, out of sorted scores and their running sums: a grid asks for it
    some thousand times. Not used where time is measured."""
    ordered = np.sort(f)
    sums = np.concatenate([[0.0], np.cumsum(ordered)])

    def mean(_, t, gamma):
        lo, hi = np.searchsorted(ordered, t), np.searchsorted(ordered, t + gamma)
        return ((sums[hi] - sums[lo] - (hi - lo) * t) / gamma + len(f) - hi) / len(f)

    return mean


def descent(f, gamma, rho, epsilon, seed):
    """lambda - mu of one group, for each pair of gamma and rho (arrays [cells]): projected gradient
    steps on batches with averaged iterates, then on all rows, as the authors' code makes them.
    Where that code leaves out mu (small epsilon), the paper's equation 2 is kept."""
    random = np.random.default_rng(seed)
    gamma, rho = np.asarray(gamma, dtype=np.float64), np.asarray(rho, dtype=np.float64)
    lam, mu = np.zeros_like(gamma), np.zeros_like(gamma)
    lam_sum, mu_sum = np.zeros_like(gamma), np.zeros_like(gamma)
    e = epsilon / 2

    def update(scores, step, mean):
        q = mean(scores, lam - mu, gamma)
        return (np.maximum(0, lam - step * (e + rho - q)), np.maximum(0, mu - step * (e - rho + q)))

    step = gamma * BATCH / np.sqrt(STEPS * BATCH)
    for _ in range(STEPS):
        lam, mu = update(f[random.integers(0, len(f), BATCH)], step, ramp_mean)
        lam_sum += lam
        mu_sum += mu
    lam, mu = lam_sum / STEPS, mu_sum / STEPS
    whole = ramp_mean if len(gamma) == 1 else ramp_mean_of_sorted(f)
    for _ in range(POLISH):
        lam, mu = update(f, gamma / 2, whole)
    return lam - mu


class Sgd:
    """gamma and rho from the paper's grids by accuracy on a third of the fresh rows, then a fit on
    all of them."""

    def fit(self, rows, epsilon=0.0, seed=0):
        order = np.random.default_rng(seed).permutation(len(rows.score))
        third = len(order) // 3
        cells = [(gamma, float(np.clip(rows.label.mean() + around, 0, 1)))
                 for gamma in GAMMAS for around in AROUND]
        tuned = self.thresholds(rows.subset(order[third:]), cells, epsilon, seed)
        held = rows.subset(order[:third])
        accuracy = []
        for (gamma, _), t in zip(cells, tuned):
            q = self.ramp(held, gamma, t)
            accuracy.append(np.where(held.label == 1, q, 1 - q).mean())
        self.gamma, self.rho = cells[int(np.argmax(accuracy))]
        self.t = self.thresholds(rows, [(self.gamma, self.rho)], epsilon, seed)[0]
        return self

    @staticmethod
    def thresholds(rows, cells, epsilon, seed):
        """[cells][groups]"""
        groups = range(int(rows.group.max()) + 1)
        gamma, rho = np.array(cells).T
        return np.column_stack([descent(2 * rows.score[rows.group == k] - 1, gamma, rho, epsilon,
                                        seed + k) for k in groups])

    @staticmethod
    def ramp(rows, gamma, t):
        return np.clip((2 * rows.score - 1 - t[rows.group]) / gamma, 0, 1)

    def approve(self, rows):
        return self.ramp(rows, self.gamma, self.t)
