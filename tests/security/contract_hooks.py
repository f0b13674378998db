"""Checks that schemathesis makes of each answer beside its own; contract.py runs it with them."""
import json
import os

import requests
import schemathesis

SECURED = set(json.loads(os.environ["RAMPART_SECURED"]))  # such as "POST /v1/decisions"
MEMBERS = set(json.loads(os.environ["RAMPART_MEMBERS"]))  # names of members and parameters
SESSION = requests.Session()


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


def count(what):
    with open(os.environ["RAMPART_COUNTS"], "a", encoding="utf-8") as file:
        file.write(what + "\n")


@schemathesis.check
def refused_without_token(ctx, response, case):
    """The same request without a token, and with a wrong one, is refused as unauthenticated. Only
    what is refused whoever asks may have another status: no HTTP, or a method that is not there."""
    operation = f"{case.operation.method.upper()} {case.operation.path}"
    again = response.request.copy()
    unheard = response.status_code in (400, 405, 431)
    if operation not in SECURED or "Authorization" not in again.headers:
        return
    for token in (None, "Bearer " + "0" * 64):
        again.headers.pop("Authorization", None)
        if token:
            again.headers["Authorization"] = token
        answer = SESSION.send(again, timeout=60)
        count(f"without token {answer.status_code}")
        assert answer.status_code == 401 or (
            unheard and answer.status_code == response.status_code), (
            f"{operation} without the token is answered with {answer.status_code}")


@schemathesis.check
def error_is_explained(ctx, response, case):
    """An error says its status, what to do, and no field that a request cannot have."""
    count(f"answer {response.status_code}")
    if response.status_code < 400 or case.operation.path in ("/healthz", "/readyz"):
        return
    problem = response.json()
    count("reason " + problem["reason"])
    assert problem["status"] == response.status_code, problem
    assert problem.get("remedy"), f"no remedy: {problem}"
    assert problem["error"] == {"code": problem["code"], "reason": problem["reason"],
                                "message": problem["detail"]}, problem
    if problem["reason"] not in ("unknown_field", "unknown_member") and "field" in problem:
        known = [name.split("[")[0] for name in problem["field"].split(".")]
        assert known[0] in MEMBERS, f"no field: {problem}"
        count("field")
