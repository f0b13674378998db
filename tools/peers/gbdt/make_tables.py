"""Writes table files: make_tables.py OUT NAME=SPEC…

SPEC: census:ROWS, application:ROWS, wide:ROWS:FEATURES, public:DIR; alone it gives OUT/NAME.train,
with @COUNT behind it OUT/NAME.SEED.train and .test for that many seeds. Prints one JSON object: what
was made, by name, and null for a public table whose file is not there.
"""
import json
import pathlib
import sys

import tables


def make(name, spec):
    kind, *rest = spec.split(":", 1)
    if kind == "public":
        return tables.public(name, pathlib.Path(rest[0]))
    numbers = [int(x) for x in rest[0].split(":")]
    return {"census": tables.census_like, "application": tables.application_like,
            "wide": tables.wide}[kind](*numbers, seed=1)


def main():
    out = pathlib.Path(sys.argv[1])
    made = {}
    for argument in sys.argv[2:]:
        name, spec = argument.split("=", 1)
        spec, _, seeds = spec.partition("@")
        table = make(name, spec)
        made[name] = table and {"rows": table.rows, "features": len(table.columns),
                                "categorical": sum(c > 0 for c in table.categories),
                                "share": float(table.label.mean())}
        if table is None:
            continue
        if not seeds:
            table.write(out / f"{name}.train")
        for seed in range(int(seeds or 0)):
            # accounts of 9,728 persons: for unseen persons there is nothing to learn (AUC 0.50)
            train, test = tables.split(table, seed, together=name != "card_applications")
            train.write(out / f"{name}.{seed}.train")
            test.write(out / f"{name}.{seed}.test")
    print(json.dumps(made))


if __name__ == "__main__":
    main()
