#!/usr/bin/env python3
"""The HTTP interface beside schemas/http/openapi.yaml: the document is valid and its examples fit
its schemas; the service's answers fit it, for a journey through all operations and for the
requests that schemathesis makes of it; none of them is answered without the token."""
import argparse
import collections
import copy
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import tomllib
from urllib.parse import urlunsplit

import jsonschema
import openapi_spec_validator
import requests
import yaml

import contract_client

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCUMENT = ROOT / "schemas" / "http" / "openapi.yaml"
METHODS = ("get", "put", "post", "delete", "patch")
LEAST_CASES = 2000
ROWS = 3000


def operations(document):
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield path, method, item[method]


def resolved(document, node):
    """The node that a reference names, or the node."""
    while isinstance(node, dict) and "$ref" in node and node["$ref"].count("/") == 3:
        kind, name = node["$ref"].split("/")[2:]
        if kind == "schemas":
            break
        node = document["components"][kind][name]
    return node


def check_instance(document, schema, instance, what):
    whole = {"allOf": [schema], "components": document["components"]}
    errors = list(jsonschema.Draft202012Validator(whole).iter_errors(instance))
    if errors:
        best = jsonschema.exceptions.best_match(errors)
        sys.exit(f"{what}: at {list(best.absolute_path)}: {best.message[:400]}")


def examples(document, media):
    if "example" in media:
        yield media["example"]
    for example in media.get("examples", {}).values():
        yield resolved(document, example)["value"]


def check_document(document):
    """Valid OpenAPI 3.1, an id for each operation, typed answers, examples that fit."""
    openapi_spec_validator.validate(document)
    ids, shown = [], 0
    for path, method, operation in operations(document):
        name = f"{method.upper()} {path}"
        ids.append(operation["operationId"])
        contents = [("body", operation.get("requestBody"))] if "requestBody" in operation else []
        contents += operation["responses"].items()
        for status, response in contents:
            for kind, media in resolved(document, response).get("content", {}).items():
                what = f"{name}: {status} as {kind}"
                if "schema" not in media:
                    sys.exit(f"{what}: has no schema")
                found = list(examples(document, media))
                if str(status) in ("200", "body") and not found and "octet" not in kind:
                    sys.exit(f"{what}: has no example")
                for example in found:
                    check_instance(document, media["schema"], example, what)
                shown += len(found)
        if any(status.startswith("2") for status in operation["responses"]) is False:
            sys.exit(f"{name}: has no answer")
    if len(set(ids)) != len(ids):
        sys.exit("an operationId is given twice")
    print(f"the document is valid: {len(ids)} operations, {shown} examples fit")


class Service:
    """A process of `rampart serve` on the store."""

    def __init__(self, programs, folder, config):
        self.log = open(folder / "service.log", "a", encoding="utf-8")
        self.endpoint = folder / "store" / "endpoint"
        self.endpoint.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [programs / "rampart", "serve", "--config", folder / config],
            stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 60
        while not self.endpoint.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit("the service did not start:\n" + self.tail(folder))
            time.sleep(0.05)
        host = self.endpoint.read_text(encoding="utf-8").strip()
        self.url = urlunsplit(("http", host, "", "", ""))
        self.token = (folder / "store" / "keys" / "token").read_text(encoding="utf-8").strip()

    def create(self, name, scopes):
        """Makes a principal and returns its token."""
        answer = requests.post(self.url + "/v1/tokens", timeout=60, json={
            "name": name, "scopes": scopes, "expires": None},
            headers={"Authorization": "Bearer " + self.token})
        if answer.status_code != 201:
            sys.exit(f"POST /v1/tokens: {answer.status_code}: {answer.text[:400]}")
        return answer.json()["token"]

    @staticmethod
    def tail(folder):
        return (folder / "service.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)
        return self.process.returncode


class Journey:
    """Requests whose answers are compared with the document."""

    def __init__(self, document, service):
        self.document, self.service = document, service
        self.seen = collections.Counter()

    def ask(self, name, body=None, path=None, query=None, status=200, kind="application/json",
            session=None):
        """Asks for an operation like "POST /v1/decisions" and returns the answer's JSON. With the
        headers of a session, these say who asks."""
        method, template = name.split(" ")
        data = body if isinstance(body, bytes) or body is None else json.dumps(body)
        answer = requests.request(
            method, self.service.url + (path or template), params=query, data=data, timeout=120,
            headers={"Content-Type": kind,
                     **(session or {"Authorization": "Bearer " + self.service.token})})
        self.cookies = answer.cookies
        if answer.status_code != status:
            sys.exit(f"{name}: {answer.status_code}, not {status}: {answer.text[:400]}")
        responses = self.document["paths"][template][method.lower()]["responses"]
        contents = resolved(self.document, responses[str(status)])["content"]
        media = answer.headers["Content-Type"].split(";")[0]
        if media not in contents:
            sys.exit(f"{name}: {media} is not documented for {status}")
        self.seen[name] += 1
        value = answer.json() if media.endswith("json") and "nd" not in media else answer.text
        check_instance(self.document, contents[media]["schema"], value, f"{name}: {status}")
        return value


    def follow(self, name, last):
        """Asks for a stream of events and returns the names of the first ones, up to "audit"."""
        path = name.split(" ")[1]
        with requests.get(self.service.url + path, stream=True, timeout=120, headers={
                "Authorization": "Bearer " + self.service.token,
                "Last-Event-ID": str(last)}) as answer:
            media = answer.headers["Content-Type"]
            contents = self.document["paths"][path]["get"]["responses"]["200"]["content"]
            if answer.status_code != 200 or media not in contents:
                sys.exit(f"{name}: {answer.status_code} as {media}")
            self.seen[name] += 1
            names = []
            for line in answer.iter_lines(decode_unicode=True):
                if line.startswith("data: "):
                    json.loads(line.removeprefix("data: "))
                if line.startswith("event: "):
                    names.append(line.removeprefix("event: "))
                    if names[-1] == "audit":
                        return names
        sys.exit(f"{name}: it ended after {names}")


def travel(journey, features):
    """Each operation, answered with 200, but for those that only an auditor's node answers."""
    ask = journey.ask
    now = ask("GET /v1/status")["clock"]["now"]
    made = {"application_id": "contract-1", "person_id": "contract-p", "event_time": now,
            "features": features}
    decision = ask("POST /v1/decisions", made)
    ask("POST /v1/decisions", {"applications": [made, {**made, "application_id": "contract-2"}]})
    by_id = {"path": "/v1/decisions/" + decision["decision_id"]}
    ask("GET /v1/decisions/{id}", **by_id)
    ask("GET /v1/decisions/{id}", path="/v1/decisions/none", status=404)
    found = ask("GET /v1/decisions", query={"limit": 1, "from": "1970-01-01"})
    if found["next_cursor"]:
        ask("GET /v1/decisions", query={"cursor": found["next_cursor"], "action": "decline"})
    ask("GET /v1/decisions", query={"person": "contract-p", "to": "2999-01-01"})
    ask("GET /v1/decisions", query={"order": "newest", "limit": 1})
    ask("GET /v1/decisions", query={"action": "perhaps"}, status=400)
    explained = ask("GET /v1/decisions/{id}/explanation", path=by_id["path"] + "/explanation")
    if ask("GET /v1/decisions/{id}/explanation", path=by_id["path"] + "/explanation") != explained:
        sys.exit("GET /v1/decisions/{id}/explanation: another answer the second time")
    ask("GET /v1/decisions/{id}/explanation", path="/v1/decisions/none/explanation", status=404)
    ask("GET /v1/decisions/{id}/notice", path=by_id["path"] + "/notice",
        status=200 if decision["action"] == "decline" else 409)
    ask("POST /v1/outcomes", {"decision_id": decision["decision_id"], "measure": "repaid",
                              "value": 1, "observed_at": now})
    one = {"name": "contract", "scopes": ["read"], "expires": "2999-01-01"}
    ask("POST /v1/tokens", {**one, "addresses": ["127.0.0.0/8"]}, status=201)
    ask("GET /v1/tokens")
    ask("POST /v1/tokens/{name}/rotate", {"grace_seconds": 5}, path="/v1/tokens/contract/rotate")
    ask("DELETE /v1/tokens/{name}", path="/v1/tokens/contract")
    ask("POST /v1/stops/{name}", {"reason": "test"}, path="/v1/stops/exploration")
    ask("GET /v1/stops")
    ask("DELETE /v1/stops/{name}", path="/v1/stops/exploration", query={"reason": "test"})
    ask("GET /v1/policies/at", query={"time": now})
    # this node promotes by itself; integration_approvals asks one that proposes
    ask("GET /v1/proposals")
    ask("GET /v1/proposals/{id}", path="/v1/proposals/7", status=404)
    seen = {"digest": "0" * 64, "comment": "test"}
    for judgement in ("approve", "reject"):
        ask("POST /v1/proposals/{id}/" + judgement, seen, path="/v1/proposals/7/" + judgement,
            status=404)
    why = {"reason": "test"}
    challenged = {"id": "contract", "arms": [{"policy": "0" * 64, "share": 0.1}], **why}
    ask("POST /v1/assignments", challenged, status=404)
    ask("GET /v1/assignments")
    ask("DELETE /v1/assignments/{id}", path="/v1/assignments/contract", query=why, status=409)
    page = ask("GET /v1/audit", query={"limit": 2})
    ask("GET /v1/audit", query={"cursor": page["next_cursor"], "to": "2999-01-01"})
    ask("GET /v1/audit", query={"limit": 0}, status=400)
    taken = {"decision_id": decision["decision_id"], "action_taken": "decline", "actor": "desk",
             "reason": "income", "at": now}
    ask("POST /v1/overrides", taken)
    ask("POST /v1/overrides", {"overrides": [{**taken, "revision": i} for i in range(1, 200)]},
        status=200)
    review = by_id["path"] + "/review"
    ask("POST /v1/decisions/{id}/review", {"actor": "desk", "reason": "contests"}, path=review)
    ask("POST /v1/decisions/{id}/review", {"actor": "desk", "reason": "contests"}, path=review,
        status=409)
    page = ask("GET /v1/reviews", query={"state": "open", "limit": 1})
    ask("GET /v1/reviews", query={"cursor": page["next_cursor"]})
    ask("GET /v1/reviews", query={"state": "answered"}, status=400)
    answer = {"action_taken": "approve", "actor": "desk", "reason": "proven"}
    ask("POST /v1/decisions/{id}/review/answer", answer, path=review + "/answer")
    ask("POST /v1/decisions/{id}/review/answer", answer, path=review + "/answer", status=409)
    ask("POST /v1/protected-attributes",
        {"person_id": "contract-p", "event_time": now, "attributes": {"race": "white"}},
        kind="application/x-ndjson")
    who = {"reason": "test"}
    person = {"person_id": "contract-p", **who}
    ask("POST /v1/holds", {**person, "matter": "m-1", "until": "2999-01-01"})
    ask("POST /v1/holds", {**person, "matter": "m-2"})
    ask("GET /v1/holds")
    ask("POST /v1/holds/remove", {**person, "matter": "m-1"})
    ask("POST /v1/erasures", {**person, "dry_run": True}, status=409)
    ask("POST /v1/holds/remove", {**person, "matter": "m-2"})
    nobody = {"person_id": "unknown", **who}
    ask("POST /v1/clock", {"now": now})
    later = str(int(now[:4]) + 3) + now[4:]
    ask("POST /v1/clock", {"now": later})
    ask("POST /v1/erasures", {**person, "dry_run": True})
    ask("POST /v1/erasures", {**person, "dry_run": False})
    ask("POST /v1/erasures", {**nobody, "dry_run": False}, status=404)
    for job in ask("GET /v1/jobs")["jobs"]:
        ask("GET /v1/jobs/{id}", path="/v1/jobs/" + job["id"])
    events = journey.follow("GET /v1/events", 0)
    if events[:2] != ["begin", "gap"]:
        sys.exit(f"GET /v1/events: begins with {events}")
    ask("GET /v1/events", query={"kinds": "weather"}, status=400)
    for name in ("policy", "unmatched", "models", "partitions", "quarantine", "monitor", "report",
                 "runs"):
        ask("GET /v1/" + name)
    for name in ("models", "runs"):
        part = ask("GET /v1/" + name, query={"limit": 1})
        if part["next_cursor"]:
            ask("GET /v1/" + name, query={"limit": 1, "cursor": part["next_cursor"]})
        ask("GET /v1/" + name, query={"limit": 0}, status=400)
    ask("POST /v1/clock/accept", who, status=409)
    ask("POST /v1/partitions/resume", {"topic": "outcomes", "partition": "all", **who}, status=409)
    ask("POST /v1/quarantine/drop", {"topic": "outcomes", "partition": 0, "offset": 1, **who},
        status=404)
    ask("POST /v1/quarantine/replay", {"topic": "outcomes", "partition": 0, "offset": 1, **who},
        status=404)
    for probe in ("/healthz", "/readyz", "/metrics", "/console", "/console/"):
        ask("GET " + probe)
    ask("GET /console/{file}", path="/console/index.html")
    ask("GET /console/{file}", path="/console/none.js", status=404)
    sign_in(journey)
    ask("GET /v1/certificates/{name}", path="/v1/certificates/e1r1",
        query={"reason": "r"}, status=403)
    return decision


def sign_in(journey):
    """A session of a browser, from its token to its end."""
    ask = journey.ask
    opened = ask("POST /v1/session")
    cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in journey.cookies.items())}
    if ask("GET /v1/session", session=cookie) != opened:
        sys.exit("GET /v1/session: another session than the one that was opened")
    ask("GET /v1/status", session=cookie)
    why = {"reason": "test"}
    ask("POST /v1/rollback", why, session=cookie, status=403)
    whole = {**cookie, "X-Rampart-Write-Key": opened["write_key"]}
    ask("DELETE /v1/session", session=whole)
    ask("GET /v1/session", session=cookie, status=401)


def audited(journey, runs):
    """What only an auditor's node shows."""
    reader = {"reason": "test"}
    shown = 0
    for run in runs:
        if not run["certificate"]:
            continue
        where = "/v1/certificates/" + run["certificate"]
        journey.ask("GET /v1/certificates/{name}", path=where, query=reader)
        if run["verdict"] != "REFUSED":
            journey.ask("GET /v1/certificates/{name}/evidence", path=where + "/evidence",
                        query=reader)
            shown += 1
    journey.ask("POST /v1/candidates", b"x", status=403, kind="application/octet-stream")
    journey.ask("GET /v1/partitions")
    journey.ask("GET /v1/quarantine")
    if shown == 0:
        sys.exit("the store has no certificate with evidence")


def often(schema, values):
    return {"anyOf": [{"enum": values}, schema]}


def narrowed(document, features, decisions):
    """The document with values among which a part of the requests finds something: what breaks it
    breaks the document, too."""
    document = copy.deepcopy(document)
    schemas = document["components"]["schemas"]
    schemas["Application"]["properties"]["features"] = {
        "type": "object", "required": sorted(features), "additionalProperties": False,
        "properties": {name: {"type": [kind, "null"], "maxLength": 1024}
                       for name, kind in features.items()}}
    for name in ("Outcome", "Override"):
        member = schemas[name]["properties"]
        member["decision_id"] = often(member["decision_id"], decisions)
    outcome = schemas["Outcome"]["properties"]
    outcome["measure"] = often(outcome["measure"], ["repaid"])
    outcome["value"] = often(outcome["value"], [0, 1])
    for name in ("Resumption", "QuarantinedRecord"):
        member = schemas[name]["properties"]
        member["topic"] = often(member["topic"], ["outcomes", "decisions", "applications"])
    by_id = document["paths"]["/v1/decisions/{id}"]["get"]["parameters"][0]
    by_id["schema"] = often(by_id["schema"], decisions)
    return document


SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 421, 422, 431]
[checks.positive_data_acceptance]
enabled = false
# names in answers are not asked with: among them are the test's own principals
[phases.coverage.extra-data-sources]
responses = false
[phases.fuzzing.extra-data-sources]
responses = false
"""


def names_in(node):
    """The names of all members and parameters of the document."""
    if isinstance(node, list):
        for one in node:
            yield from names_in(one)
    elif isinstance(node, dict):
        yield from node.get("properties", {}) if isinstance(node.get("properties"), dict) else ()
        if "in" in node and "name" in node:
            yield node["name"]
        for one in node.values():
            yield from names_in(one)


def schemathesis(document, narrow, service, work, options):
    """Lets schemathesis ask; returns what it counted."""
    (work / "openapi.json").write_text(json.dumps(narrow), encoding="utf-8")
    (work / "schemathesis.toml").write_text(SETTINGS, encoding="utf-8")
    counts = work / "counts"
    counts.write_text("", encoding="utf-8")
    secured = {f"{method.upper()} {path}": operation["security"][0]["token"][0]
               for path, method, operation in operations(document) if operation.get("security")}
    scopes = document["components"]["schemas"]["Scopes"]["items"]["enum"]
    lacking = {scope: service.create(f"lacks.{scope}", [one for one in scopes if one != scope])
               for scope in scopes}
    environment = {
        **os.environ, "SCHEMATHESIS_HOOKS": str(HERE / "contract_hooks.py"), "COLUMNS": "100",
        "RAMPART_SECURED": json.dumps(secured), "RAMPART_LACKING": json.dumps(lacking),
        "RAMPART_COUNTS": str(counts),
        "RAMPART_MEMBERS": json.dumps(sorted(set(names_in(narrow))))}
    command = [
        pathlib.Path(sys.executable).parent / "schemathesis", "--config-file",
        work / "schemathesis.toml", "run", work / "openapi.json", "--url", service.url,
        "--header", f"Authorization: Bearer {service.token}", "--seed", str(options.seed),
        # a stream of events has no end
        "--exclude-path", "/v1/events", "--max-examples", str(options.examples),
        "--phases", "examples,coverage,fuzzing",
        "--no-shrink", "--generation-database", "none", "--request-timeout", "120",
        "--warnings", "off", "--suppress-health-check", "all", "--no-color"]
    began = time.monotonic()
    with open(work / "schemathesis.log", "w", encoding="utf-8") as log:
        ran = subprocess.run(command, cwd=work, env=environment, stdout=log, stderr=log,
                             check=False)
    text = (work / "schemathesis.log").read_text(encoding="utf-8", errors="replace")
    counted = collections.Counter(counts.read_text(encoding="utf-8").splitlines())
    if ran.returncode != 0:
        print(text[-20000:])
        sys.exit("schemathesis found the failures above")
    print(f"schemathesis took {time.monotonic() - began:.0f} s")
    return counted


def judge(counted):
    cases = sum(n for what, n in counted.items() if what.startswith("answer "))
    without = counted["without token 401"] + counted["wrong token 401"]
    lacking = counted["without scope 403"]
    answers = {what.split()[1]: n for what, n in sorted(counted.items()) if "answer " in what}
    print(f"{cases} cases: {answers}; {without} refused without a "
          f"valid token, {lacking} without the scope")
    if cases < LEAST_CASES or without < LEAST_CASES:
        sys.exit(f"fewer than {LEAST_CASES} cases")
    if lacking < LEAST_CASES // 2:
        sys.exit(f"{lacking} requests without the scope are too few")
    if counted["answer 200"] < 50:
        sys.exit("hardly a case was answered with 200: the document is narrowed wrongly")


def make_store(programs, work):
    """A store with decisions, outcomes, runs and certificates; it trains no more."""
    demo = [programs / "rampart-demo", "--data", "simulated", "--rows", str(ROWS), "--seed", "1",
            "--program", programs / "rampart", "--config-dir", ROOT / "ops" / "config",
            "--out", work / "a"]
    with open(work / "demo.log", "w", encoding="utf-8") as log:
        if subprocess.run(demo, stdout=log, stderr=log, check=False).returncode != 0:
            sys.exit((work / "demo.log").read_text(encoding="utf-8")[-3000:])
    folder = work / "a"
    text = (folder / "rampartd.toml").read_text(encoding="utf-8")
    text = text.replace("min_examples = 500", "min_examples = 1000000")
    (folder / "rampartd.toml").write_text(text, encoding="utf-8")
    (folder / "audit.toml").write_text(text + "\n[audit]\nenabled = true\n", encoding="utf-8")
    return folder


def small_model(programs, folder, features):
    """A model file of the store's schema, learnt from a few made-up rows."""
    rows = [",".join([*features, "repaid"])]
    for i in range(300):
        values = [str(i * 7 % 31) if kind == "number" else "other" for kind in features.values()]
        rows.append(",".join([*values, str(int(i * 7 % 31 > 11))]))
    (folder / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    command = [programs / "rampart", "train", "--data", folder / "rows.csv", "--schema",
               folder / "schema.toml", "--seed", "1", "--trees", "3", "--leaves", "4", "--out",
               folder / "model.rmp"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"rampart train: {ran.stderr}")
    return (folder / "model.rmp").read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="build/…/bin")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="an empty folder")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--examples", type=int, default=40, help="fuzzed cases an operation")
    options = parser.parse_args()
    options.work, options.programs = options.work.resolve(), options.programs.resolve()
    document = yaml.safe_load(DOCUMENT.read_text(encoding="utf-8"))
    check_document(document)
    contract_client.generate(DOCUMENT, options.work)
    folder = make_store(options.programs, options.work)
    schema = tomllib.loads((folder / "schema.toml").read_text(encoding="utf-8"))
    features = {feature["name"]: "number" if feature["kind"] == "numeric" else "string"
                for feature in schema["feature"]}
    service = Service(options.programs, folder, "rampartd.toml")
    try:
        journey = Journey(document, service)
        now = journey.ask("GET /v1/status")["clock"]["now"]
        some = {name: 0.5 if kind == "number" else "other" for name, kind in features.items()}
        contract_client.use(service.url, service.token, now, some)
        print("the generated client decides, reports and reads")
        decision = travel(journey, some)
        journey.ask("POST /v1/candidates", small_model(options.programs, folder, features),
                    kind="application/octet-stream", query={"file": "true", "plan": "1"})
        runs = journey.ask("GET /v1/runs")["runs"]
        counted = schemathesis(document, narrowed(document, features, [decision["decision_id"]]),
                               service, options.work, options)
    finally:
        code = service.stop()
    if code != 0:
        sys.exit(f"the service ended with {code}:\n" + service.tail(folder))
    auditor = Service(options.programs, folder, "audit.toml")
    try:
        journey.service = auditor
        audited(journey, runs)
    finally:
        auditor.stop()
    missing = {f"{method.upper()} {path}" for path, method, _ in operations(document)}
    missing -= set(journey.seen) | {"POST /v1/rollback"}
    if missing:
        sys.exit(f"not asked for: {sorted(missing)}")
    judge(counted)


if __name__ == "__main__":
    main()
