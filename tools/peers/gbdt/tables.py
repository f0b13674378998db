"""The tables given to every library: synthetic ones, and public ones whose files exist."""
import csv
import gzip
import struct

import numpy as np

MISSING = {"", "?", "NA", "Missing"}
MOST_CATEGORIES = 4096


class Table:
    """Columns are float32 [d][n]; category codes 0 … categories[j]-1, 0 categories: a number."""

    def __init__(self, columns, label, categories):
        self.columns = np.ascontiguousarray(columns, dtype=np.float32)
        self.label = np.asarray(label, dtype=np.uint8)
        self.categories = [int(c) for c in categories]

    @property
    def rows(self):
        return len(self.label)

    def subset(self, rows):
        return Table(self.columns[:, rows], self.label[rows], self.categories)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(struct.pack("<QQ", self.rows, len(self.columns)))
            file.write(np.asarray(self.categories, dtype="<u4").tobytes())
            file.write(self.label.tobytes())
            file.write(self.columns.astype("<f4", copy=False).tobytes())

    @staticmethod
    def read(path):
        with open(path, "rb") as file:
            n, d = struct.unpack("<QQ", file.read(16))
            categories = np.fromfile(file, dtype="<u4", count=d)
            label = np.fromfile(file, dtype=np.uint8, count=n)
            columns = np.fromfile(file, dtype="<f4", count=n * d).reshape(d, n)
        return Table(columns, label, categories)


def same_rows(columns):
    """[n] an index of each row's features: rows with equal features have the same index."""
    rows = np.ascontiguousarray(np.nan_to_num(columns, nan=-1e30).T)
    whole = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).reshape(-1)
    return np.unique(whole, return_inverse=True)[1]


def split(table, seed, share=0.3, together=True):
    """Training and test rows. together: rows with the same features stay on one side, so that no
    row is both learned and tested."""
    random = np.random.default_rng(seed)
    group = same_rows(table.columns) if together else np.arange(table.rows)
    order = random.permutation(group.max() + 1)
    is_test = order[group] < share * len(order)
    return table.subset(np.flatnonzero(~is_test)), table.subset(np.flatnonzero(is_test))


def skewed_codes(random, n, categories):
    """Codes whose frequencies decrease like 1 / (rank + 2), in random order."""
    weights = 1 / (np.arange(categories) + 2.0)
    codes = random.choice(categories, size=n, p=weights / weights.sum())
    return random.permutation(categories)[codes].astype(np.float32)


def labels(random, logit):
    return random.random(len(logit)) < 1 / (1 + np.exp(-logit))


def census_like(n, seed):
    """10 features as in the American Community Survey: 4 numbers with few values, 6 categories."""
    random = np.random.default_rng(seed)
    age = random.integers(17, 95, n)
    school = np.clip(np.rint(random.normal(18, 4, n)), 1, 24)
    hours = np.clip(np.rint(np.where(random.random(n) < 0.5, 40, random.normal(38, 13, n))), 1, 99)
    sex = random.integers(0, 2, n)
    counts = [8, 5, 500, 220, 18, 9]
    codes = [skewed_codes(random, n, count) for count in counts]
    logit = (-0.4 + 0.12 * (school - 18) + 0.05 * (hours - 38) - 0.001 * (age - 50.0) ** 2
             + 0.3 * (sex == 0) + 0.01 * (hours - 38) * (school > 20))
    for column, count in zip(codes, counts):
        logit += random.normal(0, 0.5, count)[column.astype(int)]
    logit += 0.4 * ((codes[0] > 4) & (age > 40)) - 0.3 * ((codes[4] > 9) & (sex == 1))
    return Table([age, school, hours, sex, *codes], labels(random, logit), [0, 0, 0, 0, *counts])


def application_like(n, seed):
    """67 features as in account applications: 42 numbers, 19 flags, 6 categories."""
    random = np.random.default_rng(seed)
    numbers = []
    for j in range(42):
        kind = j % 4
        if kind == 0:
            x = random.normal(0, 1, n)
        elif kind == 1:
            x = np.exp(random.normal(5, 1.2, n))
        elif kind == 2:
            x = random.poisson(3 + j % 7, n).astype(float)
        else:
            x = np.rint(1000 * random.random(n)) / 10
        if j % 5 == 0:
            x[random.random(n) < 0.05 + 0.01 * (j % 20)] = np.nan
        numbers.append(x)
    flags = [random.random(n) < random.uniform(0.03, 0.5) for _ in range(19)]
    counts = [4, 7, 8, 5, 12, 30]
    codes = [skewed_codes(random, n, count) for count in counts]
    logit = np.full(n, -1.2)
    for j in range(0, 42, 3):
        x = np.nan_to_num(numbers[j], nan=1.0)
        z = (x - x.mean()) / x.std()
        logit += random.normal(0, 0.3) * z + random.normal(0, 0.2) * np.tanh(z) * flags[j % 19]
    for column, count in zip(codes, counts):
        logit += random.normal(0, 0.4, count)[column.astype(int)]
    return Table([*numbers, *flags, *codes], labels(random, logit), [0] * 61 + counts)


def wide(n, d, seed):
    """d numbers, all distinct."""
    random = np.random.default_rng(seed)
    columns = random.standard_normal((d, n), dtype=np.float32)
    logit = sum(random.normal(0, 0.5) * columns[j] for j in range(min(d, 10)))
    return Table(columns, labels(random, logit + columns[0] * columns[1]), [0] * d)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def encode(cells):
    """A column of texts: numbers if all are, otherwise codes in the order of the sorted texts."""
    known = sorted({cell for cell in cells if cell not in MISSING})
    values = {cell: number(cell) for cell in known}
    categories = 0
    if any(value is None for value in values.values()):
        values = {cell: code for code, cell in enumerate(known)}
        categories = len(known)
    return [values.get(cell, np.nan) for cell in cells], categories


def of_cells(header, rows, label, drop):
    """`label`: maps a row's cells by name to True, False or None (skip the row)."""
    at = {name: j for j, name in enumerate(header)}
    answers = [label(lambda name, row=row: row[at[name]]) for row in rows]
    rows = [row for row, answer in zip(rows, answers) if answer is not None]
    columns, categories = [], []
    for j, name in enumerate(header):
        if name in drop:
            continue
        values, count = encode([row[j] for row in rows])
        if count > MOST_CATEGORIES:
            raise ValueError(f"column '{name}' has {count} categories")
        columns.append(values)
        categories.append(count)
    return Table(columns, [a for a in answers if a is not None], categories)


def read_cells(path):
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        return next(rows), list(rows)


def equal_to(column, value):
    return lambda cell: cell(column) == value


# file: (label, columns that reveal the label or only number the rows)
PUBLIC = {
    "acs_government_2018": (lambda cell: float(cell("salary")) > 50000, {"salary"}),
    "adult": (equal_to("income", ">50K"), {"income", "split"}),
    "default_credit_card": (equal_to("default payment", "1"), {"default payment"}),
    "pakdd_store_card": (equal_to("bad", "1"), {"bad", "id_client"}),
    "baf_sample": (equal_to("fraud_bool", "1"), {"fraud_bool"}),
    "law_school": (lambda cell: float(cell("pass_bar")) == 1, {"pass_bar"}),
    "lendingclub_2018": (equal_to("loan_status", "1"), {"loan_status", "id", "grade.1"}),
    "sba_loans": (lambda cell: {"CHGOFF": True, "P I F": False}.get(cell("MIS_Status")),
                  {"MIS_Status", "ChgOffDate", "ChgOffPrinGr", "LoanNr_ChkDgt", "City",
                   "ApprovalDate", "DisbursementDate"}),
}


def cards(folder):
    """Applications with a monthly account status: was the account ever 30 days late?"""
    _, months = read_cells(folder / "card_monthly_status.csv.gz")
    late = {}
    for account, _, status in months:
        late[account] = late.get(account, False) or status in "12345"
    header, rows = read_cells(folder / "card_applications.csv.gz")
    return of_cells(header, rows, lambda cell: late.get(cell("ID")), {"ID"})


def public(name, folder):
    """None if the file does not exist."""
    if name == "card_applications":
        there = (folder / "card_monthly_status.csv.gz").exists()
        return cards(folder) if there and (folder / "card_applications.csv.gz").exists() else None
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        return None
    label, drop = PUBLIC[name]
    return of_cells(*read_cells(path), label, drop)


PUBLIC_NAMES = ["acs_government_2018", "adult", "card_applications",
                *[name for name in PUBLIC if name not in ("acs_government_2018", "adult")]]
