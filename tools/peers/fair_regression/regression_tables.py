"""Tables with a target in [0, 1] and a group for each row, as in Agarwal et al. (2019), and two
more."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gbdt"))
import tables as plain  # noqa: E402  (the other peer's)

# name: loss, maximum number of rows
SETS = {
    "adult": ("logistic", None),
    "adult_2000": ("logistic", 2000),
    "law_school": ("squared", None),
    "law_school_2000": ("squared", 2000),
    "communities": ("squared", None),
    "cards": ("logistic", None),
    "default_credit_card": ("logistic", None),
}
NAMES = tuple(SETS)
RACES = ["racePctWhite", "racepctblack", "racePctAsian", "racePctHisp"]


class Rated:
    """A table, the target of every row and its group, 0 or 1. The group is not a feature."""

    def __init__(self, table, target, group):
        self.table = table
        self.target = np.asarray(target, dtype=np.float64)
        self.group = np.asarray(group, dtype=np.uint8)

    def subset(self, rows):
        return Rated(self.table.subset(rows), self.target[rows], self.group[rows])

    def write(self, path):
        self.table.write(path)
        self.target.tofile(f"{path}.targets")
        self.group.tofile(f"{path}.groups")


def rated(header, rows, target, group, drop):
    """`target`, `group`: functions of a row's cells by name; None: skip the row."""
    at = {name: j for j, name in enumerate(header)}
    cells = [lambda name, row=row: row[at[name]] for row in rows]
    kept = [i for i, cell in enumerate(cells)
            if target(cell) is not None and group(cell) is not None]
    rows = [rows[i] for i in kept]
    table = plain.of_cells(header, rows, lambda cell: target(cell) > 0.5, drop)
    return Rated(table, [target(cells[i]) for i in kept], [group(cells[i]) for i in kept])


def logarithms(table):
    """Numbers without negative values as log(1 + x), as the paper's authors treat Adult."""
    columns = [np.log1p(values) if count == 0 and np.nanmin(values) >= 0 else values
               for values, count in zip(table.columns, table.categories)]
    return plain.Table(columns, table.label, table.categories)


def adult(header, rows):
    rows = [row for row in rows if "?" not in row]
    found = rated(header, rows, lambda cell: float(cell("income") == ">50K"),
                  lambda cell: int(cell("sex") == "Male"),
                  {"income", "split", "sex", "fnlwgt", "education"})
    return Rated(logarithms(found.table), found.target, found.group)


def law_school(header, rows):
    rows = [row for row in rows if not any(cell in plain.MISSING for cell in row)]
    return rated(header, rows, lambda cell: min(1.0, float(cell("ugpa")) / 4),
                 lambda cell: int(cell("race") == "White"), {"ugpa", "race"})


def communities(header, rows):
    at = [header.index(name) for name in RACES]
    largest = {tuple(row): int(np.argmax([float(row[j]) for j in at])) for row in rows}
    keyed = [[*row, largest[tuple(row)]] for row in rows]
    return rated([*header, "largest"], keyed, lambda cell: float(cell("ViolentCrimesPerPop")),
                 lambda cell: int(cell("largest") == 0),
                 {"ViolentCrimesPerPop", "largest", *RACES, *header[:5]})


def default_credit_card(header, rows):
    found = rated(header, rows, lambda cell: float(cell("default payment") == "1"),
                  lambda cell: int(cell("SEX") == "1"), {"default payment", "SEX"})
    return Rated(logarithms(found.table), found.target, found.group)


def cards(header, rows, folder):
    _, months = plain.read_cells(folder / "card_monthly_status.csv.gz")
    late = {}
    for account, _, status in months:
        late[account] = late.get(account, False) or status in "12345"

    def target(cell):
        answer = late.get(cell("ID"))
        return None if answer is None else float(answer)

    return rated(header, rows, target, lambda cell: int(cell("CODE_GENDER") == "M"),
                 {"ID", "CODE_GENDER"})


def load(name, folder):
    """None if the file does not exist."""
    source = {"adult_2000": "adult", "law_school_2000": "law_school",
              "communities": "communities_crime", "cards": "card_applications"}.get(name, name)
    path = folder / f"{source}.csv.gz"
    if not path.exists():
        return None
    header, rows = plain.read_cells(path)
    makers = {"adult": adult, "law_school": law_school, "communities_crime": communities,
              "default_credit_card": default_credit_card,
              "card_applications": lambda h, r: cards(h, r, folder)}
    found = makers[source](header, rows)
    most = SETS[name][1]
    if most is not None and most < len(found.target):
        found = found.subset(np.random.default_rng(4).permutation(len(found.target))[:most])
    return found


def halves(rated_rows, seed):
    """Training and test rows, half of each group; rows with the same features stay together."""
    random = np.random.default_rng(seed)
    same = plain.same_rows(rated_rows.table.columns)
    place = random.random(same.max() + 1)[same]
    train = np.zeros(len(place), dtype=bool)
    for k in np.unique(rated_rows.group):
        of = rated_rows.group == k
        train[of] = place[of] < np.median(place[of])
    return rated_rows.subset(np.flatnonzero(train)), rated_rows.subset(np.flatnonzero(~train))


def matrix(table, like):
    """Numbers standardised by `like`, missing ones as its mean; one column per category."""
    columns = []
    for values, other, count in zip(table.columns.astype(np.float64),
                                    like.columns.astype(np.float64), table.categories):
        if count > 0:
            columns += [(values == code).astype(np.float64) for code in range(count)]
            continue
        mean, spread = np.nanmean(other), np.nanstd(other)
        columns.append((np.where(np.isnan(values), mean, values) - mean) / (spread or 1.0))
    return np.column_stack(columns)
