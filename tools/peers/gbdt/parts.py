"""The parts of the measurement: each returns rows for the report."""
import bench
import rows

PUBLIC = ("acs_government_2018", "adult", "card_applications")
JUDGED = ("adult", "default_credit_card", "card_applications", "law_school")
JUDGED_MORE = ("acs_government_2018", "pakdd_store_card", "baf_sample", "lendingclub_2018",
               "sba_loans")


def chosen(options, specs):
    return {name: spec for name, spec in specs.items()
            if options.table is None or name in options.table}


def tables_of(options, work):
    """The tables used whole for training: {file: description}."""
    specs = {"census": "census:200000" if options.quick else "census:1000000",
             "application": "application:60000" if options.quick else "application:400000"}
    specs |= {name: f"public:{options.data}" for name in PUBLIC[options.quick:]}
    made = work.make(chosen(options, specs))
    return {f"{name}.train": f"{name}, {about['rows']:,} x {about['features']}"
            for name, about in made.items()}


def picked(samples, measure):
    return {name: [s[measure] for s in values] for name, values in samples.items()}


def training(options, work, tables):
    out = []
    cases = [(threads, False) for threads in options.threads]
    if options.busy or not options.quick:
        cases.append((2, True))
    for table, about in tables.items():
        for threads, busy in cases:
            name = f"train {about}, {threads} thread{'s' * (threads > 1)}{', a core busy' * busy}"
            with bench.busy_core(busy):
                samples = work.rounds(table, threads, options.rounds)
            goal = 1.2 if busy else 0.6
            for measure, title, limit in (("total", "bins and trees, s", goal),
                                          ("boost", "trees, s", goal),
                                          ("total_cpu", "bins and trees, CPU s", None),
                                          ("boost_cpu", "trees, CPU s", None)):
                values = picked(samples, measure)
                out.append(rows.against_best(name, title, values, limit))
                if limit is not None:
                    out.append(rows.best_rounds(name, f"{title}, best round", values))
                bench.say(f"{name}: {title}: " + ", ".join(
                    f"{key} {min(v):.2f} to {max(v):.2f}" for key, v in values.items()))
    return out


def memory(options, work, tables):
    out = []
    for table, about in tables.items():
        samples = work.rounds(table, 1, 1)
        for since, title in (("start_kib", "peak with the table, MiB"),
                             ("loaded_kib", "peak beyond the table, MiB")):
            peaks = {name: [(s["peak_kib"] - s[since]) / 1024 for s in values]
                     for name, values in samples.items()}
            out.append(rows.against_best(f"memory, train {about}", title, peaks, 1.0))
    return out


def prediction(options, work, tables):
    """single and batch."""
    out = []
    for table, about in tables.items():
        times = work.predict(table, options.rounds)
        one, all_rows = "one row a call", "all rows in one call"
        shown = {"single": (one, "single row, ns of CPU", 0.15),
                 "single_same": (f"{one}, LightGBM's model in both", "single row, ns of CPU", None),
                 "batch_1": (all_rows, "batch on 1 thread, ns a row of CPU", 0.15),
                 "batch_same": (f"{all_rows}, LightGBM's model in both",
                                "batch on 1 thread, ns a row of CPU", None),
                 "batch_2": (all_rows, "batch on 2 threads, ns a row", 0.15)}
        for key, (how, measure, goal) in shown.items():
            if key.split("_")[0] not in options.only:
                continue
            out.append(rows.against_best(f"predict {about}, {how}", measure, times[key], goal))
            if key == "batch_2":
                out.append(rows.best_rounds(f"predict {about}, {how}", f"{measure}, best round",
                                            times[key]))
        bench.say(f"predict {about}: " + "; ".join(
            f"{key} " + ", ".join(f"{name} {min(v):.0f} to {max(v):.0f} ns"
                                  for name, v in values.items()) for key, values in times.items()))
    return out


def quality(options, work):
    specs = {name: f"public:{options.data}@{options.seeds}"
             for name in JUDGED + JUDGED_MORE * (not options.quick)}
    if not options.quick:
        specs |= {"census": f"census:200000@{options.seeds}",
                  "application": f"application:100000@{options.seeds}"}
    made = work.make(chosen(options, specs))
    out, by_default = [], {}
    for name, about in made.items():
        for defaults in (False, True):
            judged = [work.judge(name, seed, defaults) for seed in range(options.seeds)]
            samples = {library: [j[library] for j in judged] for library in bench.LIBRARIES}
            title = f"quality, {'defaults' if defaults else 'equal settings'}, {name}"
            out += rows.quality_rows(f"{title}, {about['rows']:,} x {about['features']}", samples,
                                     goal=not defaults)
            if defaults:
                by_default[name] = samples
            bench.say(f"{title}: AUC " + ", ".join(
                f"{key} {sum(s['auc'] for s in values) / len(values):.5f}"
                for key, values in samples.items()))
    return out + ([rows.better_row(by_default)] if by_default else [])
