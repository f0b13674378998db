"""The lower half of the paper's Figure 1: bias between the sexes inside each race, as bars."""
import csv
import html
import statistics

COLOURS = {"before": "#1f6fb4", "parity between the sexes": "#e08e0b",
           "parity between sex and race": "#2e8b57"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 560, 250, 48, 46, 28
STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem}
svg text{font-size:11px;fill:#333}svg .title{font-size:13px;font-weight:600}.grid{stroke:#ddd}
.legend span{margin-right:1.4em}"""


def means(bars):
    """{model: {race: {kind: (bias, rows)}}}: the absolute mean over splits of the difference
    between the sexes. The mean of absolute ones would be far from 0 among few rows by chance."""
    found = {}
    for bar in bars:
        kinds = found.setdefault(bar["model"], {}).setdefault(bar["race"], {})
        kinds.setdefault(bar["kind"], []).append((bar["difference"], bar["rows"]))
    def bias(values):
        differences, rows = zip(*values)
        return abs(statistics.fmean(differences)), statistics.fmean(rows)
    return {model: {race: {kind: bias(values) for kind, values in kinds.items()}
                    for race, kinds in races.items()} for model, races in found.items()}


def chart(title, races, top):
    y = lambda value: TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
             f'<text x="{LEFT}" y="16" class="title">{html.escape(title)}</text>']
    for step in range(5):
        value = top * step / 4
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
                     f'class="grid"/><text x="{LEFT - 6}" y="{y(value) + 4:.1f}" '
                     f'text-anchor="end">{value:.2f}</text>')
    room = (WIDTH - LEFT) / len(races)
    for i, (race, kinds) in enumerate(races.items()):
        for j, (kind, colour) in enumerate(COLOURS.items()):
            value, count = kinds[kind]
            x = LEFT + room * (i + 0.12) + j * room * 0.25
            parts.append(f'<rect x="{x:.1f}" y="{y(value):.1f}" width="{room * 0.23:.1f}" '
                         f'height="{y(0) - y(value):.1f}" fill="{colour}"><title>'
                         f'{html.escape(f"{race}, {kind}: {value:.4f}; {count:.0f} test rows")}'
                         '</title></rect>')
        parts.append(f'<text x="{LEFT + room * (i + 0.5):.1f}" y="{HEIGHT - BOTTOM + 16}" '
                     f'text-anchor="middle">{html.escape(race.split("-")[0])}</text>'
                     f'<text x="{LEFT + room * (i + 0.5):.1f}" y="{HEIGHT - BOTTOM + 30}" '
                     f'text-anchor="middle">n = {kinds["before"][1]:.0f}</text>')
    return "".join(parts) + "</svg>"


def write(bars, folder):
    with open(folder / "subgroups.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fieldnames=["model", "race", "kind", "seed", "rows",
                                                "difference"])
        table.writeheader()
        table.writerows(bars)
    found = means(bars)
    top = max(value for races in found.values() for kinds in races.values()
              for value, _ in kinds.values()) * 1.05
    legend = " ".join(f'<span style="color:{colour}">&#9632; {kind}</span>'
                      for kind, colour in COLOURS.items())
    splits = len({bar["seed"] for bar in bars})
    page = ["<!doctype html><html lang=en><meta charset=utf-8><title>Bias inside subgroups</title>",
            f"<style>{STYLE}</style><h1>Bias between the sexes inside each race, Adult</h1>",
            "<p>Difference between the shares of positive decisions of the two sexes among the "
            f"test rows of a race: the absolute value of its mean over {splits} splits. On the "
            f"fitting rows the green bars are 0.</p><p class=legend>{legend}</p>"]
    page += [chart(model, races, top) for model, races in found.items()]
    (folder / "subgroups.html").write_text("\n".join(page) + "</html>\n", encoding="utf-8")
