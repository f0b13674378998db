"""Fits one of the peers. `cost`: one fit, timed. `many`: each setting of a JSON list; prints one
JSON list of the decisions on validation and test rows (yardstick.py)."""
import argparse
import json
import sys
import time
import warnings

import numpy as np

import grouped_tables
import yardstick

COMMON = {"num_leaves": 31, "max_bin": 255, "learning_rate": 0.1, "min_child_samples": 20}


def matrix(grouped):
    return grouped.table.columns.T


def categorical(grouped):
    return [j for j, count in enumerate(grouped.table.categories) if count > 0]


def booster_settings(setting, threads=1):
    return {"n_estimators": setting["trees"], "num_leaves": setting["leaves"], "max_bin": 255,
            "learning_rate": setting["learning_rate"], "min_child_samples": setting["min_rows"],
            "n_jobs": threads, "verbosity": -1, "random_state": 0}


def lightgbm_scores(setting, parts, _):
    import lightgbm
    train = parts[0]
    model = lightgbm.LGBMClassifier(**booster_settings(setting))
    model.fit(matrix(train), train.table.label, categorical_feature=categorical(train))
    return [model.predict(matrix(part), raw_score=True) for part in parts[1:]]


def fairgbm_scores(setting, parts, constraint):
    from fairgbm import FairGBMClassifier
    train = parts[0]
    more = {}
    if constraint == "FPR" and setting.get("operate"):
        # appendix D of Cruz et al. (2023): a global bound shifts the scores so that 0.5 is the
        # threshold
        more = {"global_constraint_type": "FPR,FNR",
                "global_target_fpr": setting["operate"], "global_target_fnr": 0.5}
    model = FairGBMClassifier(
        constraint_type=constraint, **{f"constraint_{constraint.lower()}_tolerance":
                                       setting["tolerance"]},
        multiplier_learning_rate=setting["multiplier"], **booster_settings(setting), **more)
    model.fit(matrix(train), train.table.label, constraint_group=train.group.astype(int),
              categorical_feature=categorical(train))
    return [model.predict(matrix(part), raw_score=True) for part in parts[1:]]


def reduction_scores(setting, parts, constraint):
    """Mean decision of exponentiated gradient; score of grid search's choice."""
    import lightgbm
    from fairlearn.reductions import (ExponentiatedGradient, FalsePositiveRateParity, GridSearch,
                                      TruePositiveRateParity)
    train = parts[0]
    bound = TruePositiveRateParity if constraint == "FNR" else FalsePositiveRateParity
    base = lightgbm.LGBMClassifier(**booster_settings(setting))
    fitted = {"sensitive_features": train.group.astype(int)}
    if setting["reduction"] == "eg":
        model = ExponentiatedGradient(base, bound(difference_bound=max(1e-3, setting["tolerance"])),
                                      max_iter=10)
        model.fit(matrix(train), train.table.label, **fitted)
        return [model._pmf_predict(matrix(part))[:, 1] - 0.5 for part in parts[1:]]
    model = GridSearch(base, bound(), grid_size=10)
    model.fit(matrix(train), train.table.label, **fitted)
    return [model.predict_proba(matrix(part))[:, 1] - 0.5 for part in parts[1:]]


LEARNERS = {"lightgbm": lightgbm_scores, "fairgbm": fairgbm_scores, "fairlearn": reduction_scores}


def cost(options):
    train = grouped_tables.Grouped.read(options.train)
    setting = {"trees": 100, "leaves": 31, "learning_rate": 0.1, "min_rows": 20, "tolerance": 0.01,
               "multiplier": 0.1}
    import fairgbm  # noqa: F401 (loading libraries is not part of a fit)
    import lightgbm  # noqa: F401
    start = time.process_time()
    LEARNERS[options.learner](setting, [train], options.constraint)
    print(json.dumps({"cpu": time.process_time() - start}))


def many(options):
    parts = [grouped_tables.Grouped.read(path)
             for path in (options.train, options.validation, options.test)]
    with open(options.settings, encoding="utf-8") as file:
        settings = json.load(file)
    results = []
    for setting in settings:
        start = time.process_time()
        try:
            scores = LEARNERS[options.learner](setting, parts, options.constraint)
        except Exception as error:  # noqa: BLE001  (a peer's failure is a result)
            print(f"{options.learner} {setting}: {error}", file=sys.stderr)
            continue
        seconds = time.process_time() - start
        results.append({"cpu": seconds, **yardstick.judged(parts[1:], scores, options.constraint,
                                                       options.operate)})
    print(json.dumps(results))


def main():
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("cost", "many"))
    parser.add_argument("--learner", required=True, choices=sorted(LEARNERS))
    parser.add_argument("--train", required=True)
    parser.add_argument("--validation")
    parser.add_argument("--test")
    parser.add_argument("--settings")
    parser.add_argument("--constraint", default="FNR")
    parser.add_argument("--operate", help="fpr=0.05 or statistical_parity=0.2: the threshold of the validation rows")
    options = parser.parse_args()
    np.seterr(all="ignore")
    (cost if options.what == "cost" else many)(options)


if __name__ == "__main__":
    main()
