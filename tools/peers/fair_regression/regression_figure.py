"""Figure 1 of Agarwal et al. (2019): test loss against disparity, one chart per table and
learner."""
import csv
import html
import statistics

import regression_judge

COLOURS = {"ours": "#1f6fb4", "unconstrained": "#666666", "SEO": "#e08e0b",
           "fair classification": "#2e8b57", "paper's EG": "#b0407a"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 300, 64, 40, 28
STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem}
svg text{font-size:11px;fill:#333}svg .title{font-size:13px;font-weight:600}.grid{stroke:#ddd}
.legend span{margin-right:1.4em}"""


def corners(results, table, oracle, method):
    """Means over splits, by point: [(disparity, loss, half width of its 95 % band)]."""
    points = [r["points"] for r in results
              if (r["table"], r["oracle"], r["method"]) == (table, oracle, method)]
    out = []
    for same in zip(*points):
        loss, width = regression_judge.band([p["test"]["loss"] for p in same])
        out.append((statistics.fmean(p["test"]["disparity"] for p in same), loss,
                    width if len(same) > 1 else 0.0))
    return sorted(out)


def chart(title, lines):
    every = [point for line in lines.values() for point in line]
    right = max(x for x, _, _ in every) * 1.05
    low, high = min(y - w for _, y, w in every), max(y + w for _, y, w in every)
    high += (high - low) * 0.05 or 1e-6
    x_of = lambda x: LEFT + x / right * (WIDTH - LEFT - 10)
    y_of = lambda y: TOP + (high - y) / (high - low) * (HEIGHT - TOP - BOTTOM)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
             f'<text x="{LEFT}" y="16" class="title">{html.escape(title)}</text>']
    for step in range(5):
        loss, disparity = low + (high - low) * step / 4, right * step / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y_of(loss):.1f}" y2="{y_of(loss):.1f}" '
                     f'class="grid"/><text x="{LEFT - 6}" y="{y_of(loss) + 4:.1f}" '
                     f'text-anchor="end">{loss:.4f}</text>'
                     f'<text x="{x_of(disparity):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                     f'text-anchor="middle">{disparity:.2f}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">largest disparity '
                 'on the test rows</text>')
    for name, line in lines.items():
        colour = COLOURS[name]
        if len(line) > 1:
            upper = [f"{x_of(x):.1f},{y_of(y + w):.1f}" for x, y, w in line]
            lower = [f"{x_of(x):.1f},{y_of(y - w):.1f}" for x, y, w in reversed(line)]
            parts.append(f'<polygon points="{" ".join(upper + lower)}" fill="{colour}" '
                         'opacity="0.12"/>')
            shown = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y, _ in line)
            parts.append(f'<polyline points="{shown}" fill="none" stroke="{colour}"/>')
        for x, y, w in line:
            told = html.escape(f"{name}: loss {y:.5f} ± {w:.5f} at disparity {x:.3f}")
            parts.append(f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}">'
                         f'<title>{told}</title></circle>')
    return "".join(parts) + "</svg>"


def write(results, folder):
    with open(folder / "frontier.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["table", "learner", "split", "method", "point", "train_loss",
                        "train_disparity", "test_loss", "test_disparity"])
        for r in results:
            for at, p in enumerate(r["points"]):
                table.writerow([r["table"], r["oracle"], r["split"], r["method"], at,
                                p["train"]["loss"], p["train"]["disparity"], p["test"]["loss"],
                                p["test"]["disparity"]])
    legend = " ".join(f'<span style="color:{colour}">&#9632; {html.escape(name)}</span>'
                      for name, colour in COLOURS.items())
    page = ["<!doctype html><html lang=en><meta charset=utf-8><title>Fair regression</title>",
            f"<style>{STYLE}</style><h1>Test loss against disparity</h1>",
            "<p>Discretised test loss (40 levels) against the largest disparity of the tails over "
            "all thresholds and groups; means over splits, bands of 95 %.</p>"
            f"<p class=legend>{legend}</p>"]
    seen = sorted({(r["table"], r["oracle"]) for r in results})
    for name, oracle in seen:
        lines = {method: corners(results, name, oracle, method) for method in COLOURS}
        page.append(chart(f"{name}, {'trees' if oracle == 'gbdt' else 'linear models'}",
                          {method: line for method, line in lines.items() if line}))
    (folder / "frontier.html").write_text("\n".join(page) + "</html>\n", encoding="utf-8")
