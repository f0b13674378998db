"""Cost of growth: seconds of CPU by rows and by features, as CSV and as one page of plots."""
import csv
import html
import math

import bench

ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 2_000_000, 4_000_000)
FEATURES = (10, 30, 100, 300, 1000)
ROWS_OF_WIDE = 20_000
COLOURS = {"ours": "#0b6e4f", "lightgbm": "#1f4e9c", "xgboost": "#c0392b"}
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460, 300, 62, 14, 30, 40


def measure(options, work):
    """One dict for each size and library: the smallest CPU time of the rounds, on one thread."""
    sizes = [("rows", n, 10, f"census:{n}") for n in ROWS]
    sizes += [("features", ROWS_OF_WIDE, d, f"wide:{ROWS_OF_WIDE}:{d}") for d in FEATURES]
    if options.quick:
        sizes = [s for s in sizes if s[1] <= 300_000 and s[2] <= 300]
    out = []
    for axis, n, d, spec in sizes:
        work.make({"growth": spec})
        samples = work.rounds("growth.train", 1, 1 if options.quick else 3)
        for library, values in samples.items():
            trees = values[0]["trees"]
            boost = min(v["boost_cpu"] for v in values)
            total = min(v["total_cpu"] for v in values)
            peak = min(v["peak_kib"] - v["start_kib"] for v in values)
            out.append({"axis": axis, "rows": n, "features": d, "library": library, "trees": trees,
                        "boost_cpu_s": round(boost, 4), "total_cpu_s": round(total, 4),
                        "ns_per_row_tree": round(1e9 * boost / (n * trees), 2),
                        "ns_per_value_tree": round(1e9 * boost / (n * d * trees), 3),
                        "bin_ns_per_value": round(1e9 * max(total - boost, 0) / (n * d), 2),
                        "peak_bytes_per_value": round(1024 * peak / (n * d), 2)})
        bench.say(f"growth, {n:,} x {d}: " + ", ".join(
            f"{r['library']} {r['ns_per_row_tree']:.0f} ns a row and tree" for r in out[-3:]))
    return out


def write_csv(path, points):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(points[0]))
        writer.writeheader()
        writer.writerows(points)


def ticks(low, high):
    """Powers of ten from low to high, and further ticks if these are few."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1,) if high > 200 * low else (1, 2, 5) if high > 10 * low else (1, 1.5, 2, 3, 5, 7)
    return [s * 10.0 ** e for e in range(first, last + 1) for s in steps
            if low * 0.999 <= s * 10.0 ** e <= high * 1.001]


class Plot:
    """Lines over two logarithmic axes."""

    def __init__(self, title, x_name, lines):
        """lines: {name: [(x, y), …]}"""
        self.title, self.x_name, self.lines = title, x_name, lines
        points = [p for line in lines.values() for p in line]
        self.x_low, self.x_high = min(p[0] for p in points), max(p[0] for p in points)
        ys = [p[1] for p in points if p[1] > 0] or [1.0]
        self.y_low, self.y_high = min(ys) / 1.3, max(ys) * 1.3

    def x(self, value):
        span = math.log(self.x_high / self.x_low) or 1
        return LEFT + math.log(value / self.x_low) / span * (WIDTH - LEFT - RIGHT)

    def y(self, value):
        span = math.log(self.y_high / self.y_low)
        share = math.log(max(value, self.y_low) / self.y_low) / span
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def svg(self):
        out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
               f'<text x="{LEFT}" y="16" class="title">{html.escape(self.title)}</text>']
        for tick in ticks(self.y_low, self.y_high):
            y = self.y(tick)
            out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" '
                       f'class="grid"/><text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                       f"{tick:g}</text>")
        for tick in ticks(self.x_low, self.x_high):
            out.append(f'<text x="{self.x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                       f'text-anchor="middle">{tick:,.0f}</text>')
        for name, points in self.lines.items():
            path = " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in points)
            colour = COLOURS[name]
            out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                       'stroke-width="1.8"/>')
            out += [f'<circle cx="{self.x(a):.1f}" cy="{self.y(b):.1f}" r="2.6" fill="{colour}">'
                    f"<title>{name}: {a:,} → {b:g}</title></circle>" for a, b in points]
        out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">'
                   f"{html.escape(self.x_name)}</text></svg>")
        return "".join(out)


STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:1000px;margin:2rem auto;padding:0 1rem}
svg text{font-size:11px;fill:#333}svg .title{font-size:12px;font-weight:600}.grid{stroke:#ddd}
.legend span{margin-right:1.4em}"""


def page(points, about):
    def plot(axis, title, measure_name, x_name):
        lines = {name: [(p[axis], p[measure_name]) for p in points
                        if p["axis"] == axis and p["library"] == name] for name in COLOURS}
        lines = {name: line for name, line in lines.items() if line}
        return Plot(title, x_name, lines).svg() if lines else ""
    legend = "".join(f'<span style="color:{c}">■ {name}</span>' for name, c in COLOURS.items())
    return "\n".join([
        "<!doctype html><html lang=en><meta charset=utf-8><title>Cost of growth</title>",
        f"<style>{STYLE}</style><h1>Cost of growth</h1><p>{html.escape(about)}</p>",
        f'<p class="legend">{legend}</p>',
        "<h2>By rows (10 features, 6 of them categories)</h2>",
        plot("rows", "trees: ns of CPU a row and tree", "ns_per_row_tree", "rows"),
        plot("rows", "binning: ns of CPU a value", "bin_ns_per_value", "rows"),
        plot("rows", "peak with the table: bytes a value", "peak_bytes_per_value", "rows"),
        f"<h2>By features ({ROWS_OF_WIDE:,} rows, all numbers)</h2>",
        plot("features", "trees: ns of CPU a value and tree", "ns_per_value_tree", "features"),
        plot("features", "binning: ns of CPU a value", "bin_ns_per_value", "features"),
        plot("features", "peak with the table: bytes a value", "peak_bytes_per_value", "features"),
        "</html>\n"])


def run(options, work, out):
    points = measure(options, work)
    about = (f"{points[0]['trees']} trees of 31 leaves, 255 bins, one thread; least CPU time of the "
             "rounds. A flat line: time in proportion to the size.")
    write_csv(out / "growth.csv", points)
    (out / "growth.html").write_text(page(points, about), encoding="utf-8")
    bench.say(f"growth: {out / 'growth.csv'}, {out / 'growth.html'}")
    return points
