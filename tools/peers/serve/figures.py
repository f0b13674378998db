"""From what was measured to rows with goals, and to the tables of the README."""
import statistics
import textwrap

SERVERS = {"plain": "`rampart serve`", "tls": "`rampart serve`, TLS", "echo": "bare Boost.Beast",
           "python": "FastAPI, uvicorn, LightGBM"}
PARTS = {
    "model": "model, ramp, draw",
    "sealing": "record, sealing, durable append",
    "http": "HTTP (the bare server's request)"}


def middle(samples, key):
    return statistics.median(one[key] for one in samples)


def ratios(mine, theirs, key):
    """Round by round: what ran close together had the machine alike."""
    return statistics.median(a[key] / b[key] for a, b in zip(mine, theirs))


def row(work, measure, ours, peer=None, ratio=None, goal=None, met=None):
    return {"work": work, "measure": measure, "ours": ours, "peer": peer, "ratio": ratio,
            "goal": goal, "met": met}


def parts_of(samples, parts):
    """Returns the microseconds of CPU of each part of a decision."""
    return {"model": middle(parts, "decide_us"), "sealing": middle(parts, "seal_and_append_us"),
            "http": middle(samples["echo"], "cpu_us")}


def rows_of(samples, parts, workers):
    rate, echo = middle(samples["plain"], "rate"), middle(samples["echo"], "rate")
    python = ratios(samples["plain"], samples["python"], "rate")
    tls = ratios(samples["tls"], samples["plain"], "rate")
    cpu, whole = middle(samples["plain"], "cpu_us"), sum(parts_of(samples, parts).values())
    share = ratios(samples["plain"], samples["echo"], "rate")
    failed = sum(one["failed"] for each in samples.values() for one in each)
    return [
        row("decisions beside a bare Boost.Beast server", "answers/s", rate, echo, share,
            ">= 10,000 or ratio >= 0.5", rate >= 10_000 or share >= 0.5),
        row(f"decisions beside FastAPI and LightGBM, {workers} workers", "answers/s", rate,
            middle(samples["python"], "rate"), python, "ratio >= 10", python >= 10),
        row("decisions over TLS beside plain", "answers/s", middle(samples["tls"], "rate"), rate,
            tls, "ratio >= 0.7", tls >= 0.7),
        row("a decision beside the sum of its parts", "CPU, µs", cpu, whole, cpu / whole,
            "ratio <= 1.3", cpu / whole <= 1.3),
        row("answers that were no 2xx, lost connections", "number", failed, goal="0",
            met=failed == 0),
    ]


def shown(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"
    return str(value)


def markdown(head, lines, text_columns=1):
    rule = ["---" if i < text_columns else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def tables(document):
    """The tables of a result, as they stand in the README."""
    samples, parts = document["samples"], document["parts"]
    about = document["about"]
    goals = [[x["work"], x["measure"], *(shown(x[k]) for k in ("ours", "peer", "ratio")),
              x["goal"] or "", shown(x["met"])] for x in document["rows"]]
    servers = [[SERVERS[name], *(shown(float(middle(samples[name], key))) for key in
                                 ("rate", "p50_ms", "p99_ms", "cpu_us", "client_cpu_us"))]
               for name in SERVERS]
    pieces = [[PARTS[name], shown(float(value))]
              for name, value in parts_of(samples, parts).items()]
    extra = [("of the model: trees and ramp alone", "evaluate_us"),
             ("of the append: the same record, not sealed", "append_us"),
             ("not in the sum: JSON, read and written", "json_us")]
    pieces += [[name, shown(float(middle(parts, key)))] for name, key in extra]
    made_by = ", ".join(f"{name} {document['versions'][name]}" for name in
                        ("wrk", "boost", "lightgbm", "fastapi", "uvicorn"))
    head = (f"{document['machine']}; medians of {document['rounds']} rounds of "
            f"{document['seconds']} s, {about['connections']} connections, {about['workers']} "
            f"workers of the Python service; {about['trees']} trees with {about['leaves']} leaves "
            f"in all; {document['group']:.0f} decisions a write. {made_by}.")
    return "\n\n".join([
        "\n".join(textwrap.wrap(head, 100, break_on_hyphens=False)),
        markdown(["work", "measure", "ours", "peer", "ratio", "goal", "met"], goals, 2),
        markdown(["server", "answers/s", "p50, ms", "p99, ms", "CPU an answer, µs",
                  "of the client, µs"], servers),
        markdown(["part of a decision", "CPU, µs"], pieces)])


BEGIN, END = "<!-- by run --readme -->\n", "<!-- end -->\n"


def put_into(page, document):
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(document)}\n\n{END}{after}"
