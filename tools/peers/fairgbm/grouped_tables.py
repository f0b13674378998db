"""Public tables with a protected attribute: those of peers/gbdt, with a group for each row."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gbdt"))
import tables as plain  # noqa: E402  (the other peer's)

# name: (table of peers/gbdt, protected column, mapping of its cells to groups, constraint)
SETS = {
    "acs": ("acs_government_2018", "sex", None, "fnr"),
    "adult": ("adult", "sex", None, "fnr"),
    "cards": ("card_applications", "CODE_GENDER", None, "fnr"),
    "default_credit_card": ("default_credit_card", "SEX", None, "fnr"),
    "compas": ("compas_two_years", "race", "African-American", "fpr"),
    "fraud": ("baf_sample", "customer_age_category", None, "fpr"),
}
COMPAS = ["sex", "age", "race", "juv_fel_count", "juv_misd_count", "juv_other_count",
          "priors_count", "c_charge_degree"]


class Grouped:
    """A table and the group of every row, 0 … len(names)-1."""

    def __init__(self, table, group, names):
        self.table, self.group, self.names = table, np.asarray(group, dtype=np.uint8), names

    def subset(self, rows):
        return Grouped(self.table.subset(rows), self.group[rows], self.names)

    def write(self, path):
        self.table.write(path)
        with open(f"{path}.groups", "wb") as file:
            file.write(self.group.tobytes())

    @staticmethod
    def read(path):
        table = plain.Table.read(path)
        group = np.fromfile(f"{path}.groups", dtype=np.uint8)
        return Grouped(table, group, [str(k) for k in range(int(group.max()) + 1)])


def compas(folder):
    header, rows = plain.read_cells(folder / "compas_two_years.csv.gz")
    return header, rows, plain.equal_to("two_year_recid", "1"), set(header) - set(COMPAS)


def load(name, folder):
    """None if the file does not exist."""
    source, column, one, _ = SETS[name]
    if not (folder / f"{source}.csv.gz").exists():
        return None
    if source == "card_applications":
        _, months = plain.read_cells(folder / "card_monthly_status.csv.gz")
        late = {}
        for account, _, status in months:
            late[account] = late.get(account, False) or status in "12345"
        header, rows = plain.read_cells(folder / "card_applications.csv.gz")
        label, drop = lambda cell: late.get(cell("ID")), {"ID"}
    elif source == "compas_two_years":
        header, rows, label, drop = compas(folder)
    else:
        label, drop = plain.PUBLIC[source]
        header, rows = plain.read_cells(folder / f"{source}.csv.gz")
    at = {key: j for j, key in enumerate(header)}
    kept = [row for row in rows if label(lambda key, row=row: row[at[key]]) is not None]
    table = plain.of_cells(header, kept, label, drop)
    cells = [row[at[column]] for row in kept]
    if one is not None:
        cells = [one if cell == one else "other" for cell in cells]
    names = sorted(set(cells))
    return Grouped(table, [names.index(cell) for cell in cells], names)


def split(grouped, seed):
    """60/20/20: training, validation, test; rows with the same features stay together (except
    the cards, whose rows are accounts of fewer people)."""
    random = np.random.default_rng(seed)
    rows = plain.same_rows(grouped.table.columns)
    order = random.permutation(rows.max() + 1) / (rows.max() + 1)
    place = order[rows]
    return (grouped.subset(np.flatnonzero(place < 0.6)),
            grouped.subset(np.flatnonzero((place >= 0.6) & (place < 0.8))),
            grouped.subset(np.flatnonzero(place >= 0.8)))
