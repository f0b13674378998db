"""The tables of Vargo et al. (2021) and two more: features, protected attributes, splits."""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gbdt"))
import tables as plain  # noqa: E402  (the other peer's)

# Splits: those of the paper's authors, where they are published.
SEEDS = {
    "german": (99776, 44777, 31321, 5482, 65332, 89335, 18565, 75043, 52647, 55193),
    "adult": (80147, 63811, 90326, 27837, 49906, 11676, 12806, 26656, 82225, 11968),
    "compas": (1, 6, 8, 26, 27, 30, 36, 47, 63, 70),
    "default_credit_card": tuple(range(10)),
    "cards": tuple(range(10)),
}
NAMES = tuple(SEEDS)
ADULT = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week", "workclass",
         "marital_status", "occupation", "relationship", "sex", "race"]
COMPAS = ["sex", "race", "age_cat", "c_charge_degree", "priors_count"]


class People:
    """columns: [d][n]; codes for categories. groups: {name: [n] of 0 and 1}, for the gaps.
    copies: {name: [[(feature, code), …], one per copy]}."""

    def __init__(self, names, columns, categories, label):
        self.names = names
        self.columns = np.asarray(columns, dtype=np.float64)
        self.categories = categories  # [d] texts by code, or None for a number
        self.label = np.asarray(label, dtype=np.uint8)
        self.groups, self.copies = {}, {}
        self.protected, self.indicators, self.l2_of_numbers = [], [], []
        self.two_columns = []  # binary features for which the authors use one column per value
        self.C = None  # scikit-learn's, for the logistic regression; None: peer_budro's own l2

    def at(self, name):
        return self.names.index(name)

    def codes(self, name):
        return list(range(len(self.categories[self.at(name)])))

    def code(self, name, text):
        return self.categories[self.at(name)].index(text)

    def subset(self, rows):
        found = People(self.names, self.columns[:, rows], self.categories, self.label[rows])
        found.groups = {key: group[rows] for key, group in self.groups.items()}
        for field in ("copies", "protected", "indicators", "l2_of_numbers", "two_columns", "C"):
            setattr(found, field, getattr(self, field))
        return found

    def changed(self, settings):
        columns = self.columns.copy()
        for name, code in settings:
            columns[self.at(name)] = code
        found = self.subset(slice(None))
        found.columns = columns
        return found

    def raw(self):
        counts = [0 if texts is None else len(texts) for texts in self.categories]
        return plain.Table(self.columns, self.label, counts)

    def hot(self):
        """One number per category (a single one for two categories), as the paper's trees use
        them."""
        columns = []
        for values, texts in zip(self.columns, self.categories):
            if texts is None or len(texts) == 2:
                columns.append(values)
            else:
                columns += [(values == code) for code in range(len(texts))]
        return plain.Table(columns, self.label, [0] * len(columns))

    def write(self, path):
        self.raw().write(f"{path}.raw")
        self.hot().write(f"{path}.hot")


def people(header, rows, names, label, numeric):
    at = {name: j for j, name in enumerate(header)}
    columns, categories = [], []
    for name in names:
        cells = [row[at[name]] for row in rows]
        if name in numeric:
            columns.append([float(cell) if cell not in plain.MISSING else np.nan
                            for cell in cells])
            categories.append(None)
        else:
            texts = sorted(set(cells))
            columns.append([texts.index(cell) for cell in cells])
            categories.append(texts)
    return People(list(names), columns, categories, [label(row, at) for row in rows])


def flips(found, name):
    return [[(name, code)] for code in found.codes(name)]


def german(folder):
    with open(folder / "german_credit.csv", encoding="utf-8") as file:
        header, *rows = [line.rstrip("\n").split(",") for line in file]
    names = [name for name in header if name != "credit"]
    numeric = {name for j, name in enumerate(header) if not rows[0][j].startswith("A")}
    found = people(header, rows, names, lambda row, at: row[at["credit"]] == "2", numeric)
    found.groups = {"age": found.columns[found.at("age")] >= 25}
    found.copies = {"S-cons": flips(found, "personal_status")}
    found.protected = ["age"]
    found.l2_of_numbers = [0.1 / 800, 1 / 800, 10 / 800]  # RidgeCV's, for a mean over the rows
    found.two_columns = ["telephone", "foreign_worker"]
    return found


def adult(folder):
    header, rows = plain.read_cells(folder / "adult.csv.gz")
    rows = [row for row in rows if "?" not in row]
    at = header.index("race")
    for row in rows:
        row[at] = "White" if row[at] == "White" else "other"
    found = people(header, rows, ADULT, lambda row, at: row[at["income"]] == ">50K",
                   set(ADULT[:5]))
    found.groups = {"gender": found.columns[found.at("sex")] == found.code("sex", "Male"),
                    "race": found.columns[found.at("race")] == found.code("race", "White")}
    spouse = [[("relationship", found.code("relationship", who))] for who in ("Husband", "Wife")]
    both = [[("sex", s), ("race", r)] for s in (0, 1) for r in (0, 1)]
    found.copies = {"S-cons": spouse, "GR-cons": both}
    found.protected, found.indicators = ["sex"], ["race"]
    return found


def compas(folder):
    header, rows = plain.read_cells(folder / "compas_two_years.csv.gz")
    at = {name: j for j, name in enumerate(header)}
    days = lambda row: row[at["days_b_screening_arrest"]]
    rows = [row for row in rows
            if row[at["race"]] in ("African-American", "Caucasian") and days(row) != ""
            and abs(float(days(row))) <= 30 and row[at["is_recid"]] != "-1"
            and row[at["c_charge_degree"]] != "O" and row[at["score_text"]] != "N/A"]
    found = people(header, rows, COMPAS, lambda row, at: row[at["two_year_recid"]] == "1",
                   {"priors_count"})
    found.groups = {"gender": found.columns[found.at("sex")] == 1,
                    "race": found.columns[found.at("race")] == 1}
    found.copies = {"G-cons": flips(found, "sex"), "R-cons": flips(found, "race")}
    found.protected, found.indicators = ["race"], ["sex"]
    found.C = 0.1
    return found


def default_credit_card(folder):
    header, rows = plain.read_cells(folder / "default_credit_card.csv.gz")
    names = [name for name in header if name != "default payment"]
    found = people(header, rows, names, lambda row, at: row[at["default payment"]] == "1",
                   set(names) - {"SEX", "EDUCATION", "MARRIAGE"})
    found.groups = {"gender": found.columns[found.at("SEX")] == 0}
    found.copies = {"G-cons": flips(found, "SEX"), "M-cons": flips(found, "MARRIAGE")}
    found.protected = ["SEX"]
    return found


def cards(folder):
    _, months = plain.read_cells(folder / "card_monthly_status.csv.gz")
    late = {}
    for account, _, status in months:
        late[account] = late.get(account, False) or status in "12345"
    header, rows = plain.read_cells(folder / "card_applications.csv.gz")
    at = header.index("ID")
    rows = [row for row in rows if row[at] in late]
    names = [name for name in header if name not in ("ID", "FLAG_MOBIL")]
    numeric = {"CNT_CHILDREN", "AMT_INCOME_TOTAL", "DAYS_BIRTH", "DAYS_EMPLOYED",
               "CNT_FAM_MEMBERS"}
    found = people(header, rows, names, lambda row, at: late[row[at["ID"]]], numeric)
    found.groups = {"gender": found.columns[found.at("CODE_GENDER")] == 1}
    found.copies = {"G-cons": flips(found, "CODE_GENDER"),
                    "F-cons": flips(found, "NAME_FAMILY_STATUS")}
    found.protected = ["CODE_GENDER"]
    return found


FILES = {"german": "german_credit.csv", "adult": "adult.csv.gz",
         "compas": "compas_two_years.csv.gz", "cards": "card_applications.csv.gz",
         "default_credit_card": "default_credit_card.csv.gz"}


def load(name, folder):
    """None if the file does not exist. Numbers are standardised."""
    if not (folder / FILES[name]).exists():
        return None
    found = globals()[name](folder)
    for j, texts in enumerate(found.categories):
        if texts is None:
            values = found.columns[j]
            found.columns[j] = (values - np.nanmean(values)) / (np.nanstd(values) or 1.0)
    return found


def split(name, found, seed):
    """80 % for training, 20 % for test."""
    n = len(found.label)
    if name == "german":
        from sklearn.model_selection import StratifiedShuffleSplit
        train, test = next(StratifiedShuffleSplit(1, train_size=800, random_state=seed).split(
            np.zeros(n), found.label))
    else:
        order = np.random.RandomState(seed).permutation(n)
        train, test = order[:int(0.8 * n)], order[int(0.8 * n):]
    return found.subset(train), found.subset(test)
