"""Means over splits beside the published figures (Vargo et al. 2021, tables 1, 2, 5, 7 and 9)."""
import statistics

# mean, standard deviation
PUBLISHED = {
    "german": {
        "BuDRO": {
            "balanced accuracy": (0.715, 0.032), "S-cons": (0.974, 0.025),
            "age max": (0.185, 0.055), "age RMS": (0.151, 0.048)},
        "plain": {
            "balanced accuracy": (0.723, 0.019), "S-cons": (0.92, 0.022), "age max": (0.31, 0.159),
            "age RMS": (0.241, 0.109)},
        "project": {
            "balanced accuracy": (0.698, 0.024), "S-cons": (0.96, 0.029), "age max": (0.188, 0.086),
            "age RMS": (0.144, 0.064)},
    },
    "adult": {
        "BuDRO": {
            "balanced accuracy": (0.815, 0.005), "S-cons": (0.944, 0.013),
            "GR-cons": (0.957, 0.007), "gender max": (0.146, 0.012), "gender RMS": (0.114, 0.013),
            "race max": (0.083, 0.018), "race RMS": (0.072, 0.017)},
        "plain": {
            "balanced accuracy": (0.844, 0.003), "S-cons": (0.942, 0.007),
            "GR-cons": (0.913, 0.008), "gender max": (0.2, 0.006), "gender RMS": (0.166, 0.008),
            "race max": (0.098, 0.013), "race RMS": (0.082, 0.013)},
        "project": {
            "balanced accuracy": (0.787, 0.005), "S-cons": (0.881, 0.079), "GR-cons": (1, 0),
            "gender max": (0.079, 0.022), "gender RMS": (0.069, 0.018), "race max": (0.064, 0.021),
            "race RMS": (0.05, 0.016)},
        "reweigh": {
            "balanced accuracy": (0.784, 0.005), "S-cons": (0.853, 0.01), "GR-cons": (0.949, 0.009),
            "gender max": (0.131, 0.021), "gender RMS": (0.093, 0.015), "race max": (0.056, 0.031),
            "race RMS": (0.043, 0.022)},
    },
    "compas": {
        "BuDRO": {
            "accuracy": (0.652, 0.012), "G-cons": (1, 0), "R-cons": (1, 0),
            "gender max": (0.124, 0.053), "gender RMS": (0.099, 0.037), "race max": (0.145, 0.028),
            "race RMS": (0.125, 0.021)},
        "plain": {
            "accuracy": (0.677, 0.014), "G-cons": (0.944, 0.038), "R-cons": (0.981, 0.04),
            "gender max": (0.223, 0.055), "gender RMS": (0.18, 0.041), "race max": (0.258, 0.056),
            "race RMS": (0.215, 0.046)},
        "project": {
            "accuracy": (0.671, 0.012), "G-cons": (0.873, 0.025), "R-cons": (1, 0),
            "gender max": (0.189, 0.04), "gender RMS": (0.15, 0.03), "race max": (0.23, 0.043),
            "race RMS": (0.185, 0.033)},
        "reweigh": {
            "accuracy": (0.666, 0.02), "G-cons": (0.788, 0.023), "R-cons": (0.813, 0.047),
            "gender max": (0.245, 0.054), "gender RMS": (0.207, 0.046), "race max": (0.092, 0.027),
            "race RMS": (0.069, 0.019)},
    },
}


def higher_is_better(measure):
    return "accuracy" in measure or measure.endswith("-cons")


def met(measure, mean, published):
    """Whether ours is not worse than published by more than its standard deviation (and
    rounding)."""
    there, deviation = published
    slack = deviation + 0.0005
    return mean >= there - slack if higher_is_better(measure) else mean <= there + slack


def summary(splits, method, measure):
    values = [s[method][measure] for s in splits]
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def as_table(results):
    lines = []
    for name, splits in results.items():
        measures = list(next(iter(splits[0].values())))
        lines += [f"**{name}**, {len(splits)} splits: mean ± standard deviation; in brackets what "
                  "was published, ! where ours is worse by more than its standard deviation", "",
                  "| | " + " | ".join(measures) + " |", "| --- |" + " ---: |" * len(measures)]
        for method in splits[0]:
            cells = []
            for measure in measures:
                mean, spread = summary(splits, method, measure)
                if measure == "worst primal-dual gap":
                    cells.append(f"{max(s[method][measure] for s in splits):.1e}")
                    continue
                text = f"{mean:.3f} ± {spread:.3f}"
                there = PUBLISHED.get(name, {}).get(method.split(",")[0], {}).get(measure)
                if there is not None:
                    mark = "" if met(measure, mean, there) else " !"
                    text += f" ({there[0]:.3f}{mark})"
                cells.append(text)
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)
