"""Figures 1 to 3 of Weber et al. (2022) as SVG in one HTML page, from the rows of the study's
CSV."""
import html
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 380, 260, 44, 36, 26, 12
LEARNERS = {"rampart_betting": "#0b6e4f", "rampart_t": "#57b894", "elf_paper": "#1f4e9c",
            "logistic_regression": "#c0392b", "fairgbm": "#e08e0b", "ramp": "#7d3c98"}
DELTA = 0.1


def points_of(rows, measure):
    """(n, value) of the rows that have a value, by n."""
    return [(row["n"], row[measure]) for row in sorted(rows, key=lambda r: r["n"])
            if row[measure] is not None]


class Plot:
    """Rates in [0, 1] over n, on a logarithmic axis."""

    def __init__(self, title, ns, line=None):
        self.title, self.line = title, line
        self.low, self.high = math.log2(min(ns)), math.log2(max(ns))
        self.ns, self.parts = sorted(ns), []

    def x(self, n):
        share = (math.log2(n) - self.low) / ((self.high - self.low) or 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    @staticmethod
    def y(value):
        return TOP + (1 - value) * (HEIGHT - TOP - BOTTOM)

    def add(self, points, colour, name):
        if not points:
            return
        path = " ".join(f"{self.x(n):.1f},{self.y(v):.1f}" for n, v in points)
        marks = "".join(f'<circle cx="{self.x(n):.1f}" cy="{self.y(v):.1f}" r="2.4" fill="{colour}">'
                        f"<title>{html.escape(name)}, n = {n}: {v:.3f}</title></circle>"
                        for n, v in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                          f'stroke-width="1.6"/>{marks}')

    def svg(self):
        grid = []
        for tick in (0, 0.25, 0.5, 0.75, 1):
            y = self.y(tick)
            grid.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" class="grid"/>'
                        f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{tick:g}</text>')
        for n in self.ns:
            if round(math.log2(n)) % 2 == 0:
                grid.append(f'<text x="{self.x(n):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                            f'text-anchor="middle">{n:,}</text>')
        if self.line is not None:
            y = self.y(self.line)
            grid.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}" class="limit"/>')
        return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">'
                f'<text x="{LEFT}" y="15" class="title">{html.escape(self.title)}</text>'
                + "".join(grid) + "".join(self.parts)
                + f'<text x="{WIDTH / 2}" y="{HEIGHT - 4}" text-anchor="middle">n</text></svg>')


def legend(entries):
    return '<p class="legend">' + " ".join(
        f'<span style="color:{colour}">&#9632; {html.escape(name)}</span>'
        for name, colour in entries) + "</p>"


def by_learner(rows, population, alpha, title, measure, line=None):
    rows = [r for r in rows if r["population"] == population and r["alpha"] == alpha]
    plot = Plot(title, {r["n"] for r in rows}, line)
    for learner, colour in LEARNERS.items():
        plot.add(points_of([r for r in rows if r["learner"] == learner], measure), colour, learner)
    return plot.svg()


def shade(alpha):
    """From light to dark."""
    return f"hsl(210, 70%, {80 - 62 * alpha:.0f}%)"


def by_alpha(rows, population, learner, title, measure, line=None):
    rows = [r for r in rows if r["population"] == population and r["learner"] == learner]
    plot = Plot(title, {r["n"] for r in rows}, line)
    for alpha in sorted({r["alpha"] for r in rows}):
        plot.add(points_of([r for r in rows if r["alpha"] == alpha], measure), shade(alpha),
                 f"alpha = {alpha:g}")
    return plot.svg()


STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:1240px;margin:2rem auto;padding:0 1rem}
svg text{font-size:11px;fill:#333}svg .title{font-size:12px;font-weight:600}
.grid{stroke:#ddd}.limit{stroke:#000;stroke-dasharray:4 3}.legend span{margin-right:1.2em}
table{border-collapse:collapse}td,th{padding:.15rem .6rem;text-align:left;border-bottom:1px solid #ddd}
.no{color:#b00020;font-weight:600}"""


def goals_table(goals):
    lines = ["<table><tr><th>what</th><th>measure</th><th>ours</th><th>peer</th><th>goal</th>"
             "<th>met</th></tr>"]
    for row in goals:
        if row["goal"] is None:
            continue
        met = "yes" if row["met"] else '<span class="no">no</span>'
        peer = "" if row["peer"] is None else f'{row["peer"]:.3f} ({html.escape(row["peer_name"])})'
        lines.append(f'<tr><td>{html.escape(row["work"])}</td><td>{html.escape(row["measure"])}</td>'
                     f'<td>{row["ours"]:.3f}</td><td>{peer}</td><td>{html.escape(row["goal"])}</td>'
                     f"<td>{met}</td></tr>")
    return "".join(lines) + "</table>"


def page(rows, goals, about):
    """The whole document."""
    out = ["<!doctype html><html lang=en><meta charset=utf-8><title>ELF and Rampart</title>",
           f"<style>{STYLE}</style><h1>ELF and Rampart on synthetic people</h1>",
           f"<p>{html.escape(about)}</p>", goals_table(goals)]
    learners = legend(LEARNERS.items())
    alphas = sorted({r["alpha"] for r in rows})
    for population in sorted({r["population"] for r in rows}):
        out.append(f"<h2>Population: {population}</h2><h3>Figure 1: failure rate, alpha = 0.9</h3>{learners}")
        for group in (0, 1):
            out.append(by_learner(rows, population, 0.9, f"worse than beta for group {group}",
                                  f"failure_rate_{group}", DELTA))
        out.append(f"<h3>Figure 2: accuracy and solutions, alpha = 0.9</h3>{learners}")
        out.append(by_learner(rows, population, 0.9, "accuracy of solutions", "accuracy"))
        out.append(by_learner(rows, population, 0.9, "probability of a solution", "solution_rate"))
        for learner in ("elf_paper", "rampart_betting", "rampart_t"):
            out.append(f"<h3>Figure 3: {learner}, by alpha</h3>"
                       + legend((f"{a:g}", shade(a)) for a in alphas))
            for title, measure, line in (("failure rate", "failure_rate", DELTA),
                                         ("probability of a solution", "solution_rate", None),
                                         ("accuracy of solutions", "accuracy", None)):
                out.append(by_alpha(rows, population, learner, title, measure, line))
    return "\n".join(out) + "</html>\n"
