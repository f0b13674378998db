"""Tables, their splits, and the scores of four classifiers on fresh and on test rows."""
import json
import pathlib
import subprocess
import sys
import warnings

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "fairgbm"))
import grouped_tables  # noqa: E402  (the other peer's)
import tables as plain  # noqa: E402  (peers/gbdt's, where grouped_tables looks)

NAMES = ("adult", "default_credit_card", "cards", "compas")
MODELS = ("logistic regression", "random forest", "k-NN", "our GBDT")


class Scored:
    """P(label 1), label and group of some rows."""

    def __init__(self, score, label, group):
        self.score = np.asarray(score, dtype=np.float64)
        self.label = np.asarray(label, dtype=np.uint8)
        self.group = np.asarray(group, dtype=np.uint8)

    def subset(self, rows):
        return Scored(self.score[rows], self.label[rows], self.group[rows])

    def with_group(self, group):
        return Scored(self.score, self.label, group)


def load(name, folder, most_rows=None):
    """None if the file does not exist. most_rows: a sample, always the same."""
    table = grouped_tables.load(name, folder)
    if table is None or most_rows is None or table.table.rows <= most_rows:
        return table, None if table is None else np.arange(table.table.rows)
    rows = np.sort(np.random.default_rng(5).permutation(table.table.rows)[:most_rows])
    return table.subset(rows), rows


def races(folder, rows):
    """For Adult's rows: codes of race and their names."""
    header, cells = plain.read_cells(folder / "adult.csv.gz")
    at = header.index("race")
    texts = [cells[i][at] for i in rows]
    names = sorted(set(texts))
    return np.array([names.index(text) for text in texts]), names


def biased(grouped, rows, random):
    """The paper's protocol for the credit cards (section 5): of a classifier's training rows,
    those whose label is not "is female" are kept with probability 1/2."""
    female = grouped.names.index("2")
    alike = (grouped.group[rows] == female) == (grouped.table.label[rows] == 1)
    return rows[alike | (random.random(len(rows)) < 0.5)]


def split(name, grouped, seed):
    """Training rows (half), fresh rows (a quarter), test rows (a quarter); rows with the same
    features stay together."""
    random = np.random.default_rng(seed)
    same = plain.same_rows(grouped.table.columns)
    place = (random.permutation(same.max() + 1) / (same.max() + 1))[same]
    learn, fresh, test = (np.flatnonzero((place >= lo) & (place < hi))
                          for lo, hi in ((0, 0.5), (0.5, 0.75), (0.75, 1.0)))
    if name == "default_credit_card":
        learn = biased(grouped, learn, random)
    return learn, fresh, test


def matrix(table):
    """Numbers standardised, missing ones as the mean; one column per category."""
    columns = []
    for values, count in zip(table.columns.astype(np.float64), table.categories):
        if count > 0:
            columns += [(values == code).astype(np.float64) for code in range(count)]
            continue
        values = np.where(np.isnan(values), np.nanmean(values), values)
        columns.append((values - values.mean()) / (values.std() or 1.0))
    return np.column_stack(columns)


def sklearn_scores(model, x, label, learn, others):
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.neighbors import KNeighborsClassifier
    makers = {
        "logistic regression": lambda: LogisticRegressionCV(Cs=np.logspace(-4, 4, 5), cv=3,
                                                            max_iter=300, random_state=0),
        "random forest": lambda: RandomForestClassifier(max_depth=10, random_state=0),
        "k-NN": lambda: KNeighborsClassifier(n_neighbors=10),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = makers[model]().fit(x[learn], label[learn])
        return [fitted.predict_proba(x[rows])[:, 1] for rows in others]


def our_scores(peer, grouped, learn, others, folder):
    paths = [folder / f"boost.{i}" for i in range(1 + len(others))]
    for path, rows in zip(paths, (learn, *others)):
        grouped.table.subset(rows).write(path)
    out = folder / "boost.scores"
    answer([peer, "boost", "--train", paths[0], "--rows", *paths[1:], "--out", out])
    whole = np.fromfile(out)
    ends = np.cumsum([len(rows) for rows in others])
    return np.split(whole, ends[:-1])


def answer(command):
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                         check=False)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def scored(name, grouped, seed, peer, folder):
    """{model: (fresh rows, test rows)} of one split, and the rows' indices."""
    learn, fresh, test = split(name, grouped, seed)
    x, label = matrix(grouped.table), grouped.table.label
    found = {}
    for model in MODELS:
        if model == "our GBDT":
            scores = our_scores(peer, grouped, learn, (fresh, test), folder)
        else:
            scores = sklearn_scores(model, x, label, learn, (fresh, test))
        found[model] = tuple(Scored(score, label[rows], grouped.group[rows])
                             for score, rows in zip(scores, (fresh, test)))
    return found, (fresh, test)


def write_problem(path, fresh, test):
    """The input format of peer_ramp: the numbers of rows, scores, labels, groups."""
    with open(path, "wb") as file:
        np.array([len(fresh.score), len(test.score)], dtype="<u8").tofile(file)
        for part in ("score", "label", "group"):
            np.concatenate([getattr(fresh, part), getattr(test, part)]).tofile(file)
