"""Seconds of a round by number of people, from bench_budro; growth.html and growth.csv."""
import csv
import math
import re
import subprocess

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
LINE = re.compile(r"(\d+) rounds: ([\d.]+) s of CPU, ([\d.]+) s; a round ([\d.]+) s of CPU, "
                  r"([\d.]+) times a plain one; looked at ([\d.e-]+) of the pairs; (\d+) MiB")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 640, 380, 64, 44, 20
STYLE = """body{font:14px/1.5 system-ui,sans-serif;max-width:760px;margin:2rem auto;padding:0 1rem}
svg text{font-size:11px;fill:#333}.grid{stroke:#ddd}"""


def told(bench, *what):
    ran = subprocess.run([str(part) for part in (bench, *what)], capture_output=True, text=True,
                         check=False)
    found = LINE.search(ran.stdout)
    if ran.returncode != 0 or not found:
        raise RuntimeError(f"{bench} {what}: {ran.stdout[-1000:]}{ran.stderr[-1000:]}")
    values = [float(value) for value in found.groups()]
    return dict(zip(("rounds", "cpu", "wall", "cpu a round", "times a plain round",
                     "share of pairs", "MiB"), values))


def measure(options, say):
    """30 synthetic numeric features; then Adult, depth 14, as in Vargo et al. (2021)."""
    rows = []
    for n in SIZES:
        if options.quick and n > 30_000:
            continue
        rounds = 100 if n == SIZES[-1] else 20
        rows.append({"people": n} | told(options.bench, "made-up", n, rounds))
        say(f"cost, {n:,} people: {rows[-1]['cpu a round']:.3f} s a round")
    adult = options.data / "adult.csv.gz"
    if adult.exists():
        rounds = 20 if options.quick else 180
        rows.append({"people": "Adult"} | told(options.bench, "adult", adult, rounds))
    return rows


def chart(points):
    x_of = lambda n: LEFT + (math.log10(n) - 3) / 3 * (WIDTH - LEFT - 20)
    low = math.floor(math.log10(min(s for _, s in points)))
    high = math.ceil(math.log10(max(s for _, s in points)))
    y_of = lambda s: TOP + (high - math.log10(s)) / (high - low) * (HEIGHT - TOP - BOTTOM)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">']
    for e in range(low, high + 1):
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y_of(10.0 ** e):.1f}" '
                     f'y2="{y_of(10.0 ** e):.1f}" class="grid"/><text x="{LEFT - 6}" '
                     f'y="{y_of(10.0 ** e) + 4:.1f}" text-anchor="end">{10.0 ** e:g} s</text>')
    for e in range(3, 7):
        parts.append(f'<text x="{x_of(10 ** e):.1f}" y="{HEIGHT - BOTTOM + 18}" '
                     f'text-anchor="middle">{10 ** e:,}</text>')
    n, s = points[0]
    square = [(m, s * (m / n) ** 2) for m, _ in points if s * (m / n) ** 2 <= 10.0 ** high]
    for line, style in ((square, 'stroke="#999" stroke-dasharray="4 3"'),
                        (points, 'stroke="#1f6fb4" stroke-width="2"')):
        shown = " ".join(f"{x_of(a):.1f},{y_of(b):.1f}" for a, b in line)
        parts.append(f'<polyline points="{shown}" fill="none" {style}/>')
    parts += [f'<circle cx="{x_of(a):.1f}" cy="{y_of(b):.1f}" r="3" fill="#1f6fb4"><title>{a:,} '
              f'people: {b:.4f} s of CPU a round</title></circle>' for a, b in points]
    return "".join(parts) + "</svg>"


def write(rows, folder):
    with open(folder / "growth.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, fieldnames=list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    points = [(r["people"], r["cpu a round"]) for r in rows if r["people"] != "Adult"]
    page = ("<!doctype html><html lang=en><meta charset=utf-8><title>Cost of BuDRO</title>"
            f"<style>{STYLE}</style><h1>Seconds of CPU of one exact round</h1><p>Made-up people of "
            "30 numbers, depth 8. Dashed: what grows as n².</p>" + chart(points) + "</html>\n")
    (folder / "growth.html").write_text(page, encoding="utf-8")


def as_table(rows):
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "| ---: " * len(names) + "|"]
    for r in rows:
        cells = [f"{r[n]:,}" if isinstance(r[n], int) else r[n] if isinstance(r[n], str)
                 else f"{r[n]:.4g}" for n in names]
        lines.append("| " + " | ".join(cells) + " |")
    points = [(r["people"], r["cpu a round"]) for r in rows if r["people"] != "Adult"]
    if len(points) > 1:
        (a, s), (b, t) = points[0], points[-1]
        lines += ["", f"From {a:,} to {b:,} people a round grows as n to the power of "
                  f"{math.log(t / s) / math.log(b / a):.2f}."]
    return "\n".join(lines)
