"""The peers: fair classification's scores (fairlearn's exponentiated gradient for demographic
parity) and bounded group loss (its exponentiated gradient again)."""
import time
import warnings

import numpy as np
import regression_tables

SCALE = 5.0  # of the logistic loss
TREES = {"n_estimators": 100, "num_leaves": 16, "learning_rate": 0.1, "min_child_samples": 20,
         "max_bin": 255, "n_jobs": 1, "verbosity": -1, "random_state": 0}


def features(oracle, train, other):
    if oracle == "linear":
        return [regression_tables.matrix(part.table, train.table) for part in (train, other)]
    return [part.table.columns.T for part in (train, other)]


def unit(probability):
    """u of the scaled logistic loss: probability = sigmoid(SCALE (2u - 1))."""
    p = np.clip(probability, 1e-9, 1 - 1e-9)
    return np.clip(0.5 + np.log(p / (1 - p)) / (2 * SCALE), 0, 1)


def fair_classification(oracle, train, test, bound):
    """Scores of the mixture's classifiers, [members x n] of training and of test rows, and their
    weights."""
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient
    from lightgbm import LGBMClassifier
    from sklearn.linear_model import LogisticRegression
    x, other = features(oracle, train, test)
    base = (LogisticRegression(C=1e4, solver="newton-cholesky") if oracle == "linear"
            else LGBMClassifier(**TREES))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ExponentiatedGradient(base, DemographicParity(difference_bound=bound),
                                       eps=max(bound, 0.01))
        fitted.fit(x, train.target.astype(int), sensitive_features=train.group.astype(int))
        seconds = time.process_time() - start
        weights = np.asarray(fitted.weights_)
        used = [fitted.predictors_[i] for i in fitted.weights_.index[weights > 1e-9]]
        scores = [np.array([unit(scores_of(one, part)) for one in used]) for part in (x, other)]
    weights = weights[weights > 1e-9]
    return *scores, weights / weights.sum(), seconds


def scores_of(model, x):
    """P(1). If relabelling leaves one class only, the model is a dummy classifier with one
    column."""
    proba = model.predict_proba(x)
    if proba.shape[1] == 2:
        return proba[:, 1]
    return np.full(len(x), float(model.predict(x[:1])[0]))


def bounded_group_loss(train, test, bound, gap):
    """Half squared errors of fairlearn's mixture by group on the training rows, and its seconds."""
    from fairlearn.reductions import BoundedGroupLoss, ExponentiatedGradient, SquareLoss
    from lightgbm import LGBMRegressor
    x, _ = features("gbdt", train, test)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = ExponentiatedGradient(LGBMRegressor(**TREES),
                                       BoundedGroupLoss(SquareLoss(0, 1), upper_bound=2 * bound),
                                       nu=2 * gap)
        fitted.fit(x, train.target, sensitive_features=train.group.astype(int))
    seconds = time.process_time() - start
    losses = np.zeros(len(train.target))
    for i, weight in fitted.weights_.items():
        if weight > 0:
            says = np.clip(fitted.predictors_[i].predict(x), 0, 1)
            losses += weight * (says - train.target) ** 2 / 2
    return {"cpu": seconds, "calls": int(fitted.n_oracle_calls_),
            "members": int((np.asarray(fitted.weights_) > 1e-9).sum()),
            "loss": float(losses.mean()),
            "group_losses": [float(losses[train.group == k].mean()) for k in (0, 1)]}
