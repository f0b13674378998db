"""Checks that schemathesis makes of each answer beside its own; contract.py runs it with them."""
import json
import os

import requests
import schemathesis

SECURED = json.loads(os.environ["RAMPART_SECURED"])  # "POST /v1/decisions": its scope
LACKING = json.loads(os.environ["RAMPART_LACKING"])  # scope: token of who has all others
MEMBERS = set(json.loads(os.environ["RAMPART_MEMBERS"]))  # names of members and parameters
SESSION = requests.Session()


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


def count(what):
    with open(os.environ["RAMPART_COUNTS"], "a", encoding="utf-8") as file:
        file.write(what + "\n")


@schemathesis.check
def refused_without_right(ctx, response, case):
    """The same request without a token, with a wrong one, and by a principal with all scopes but
    the one of the operation is refused as such. It may be refused for what is wrong whoever asks:
    it is no HTTP, or there is no such method."""
    operation = f"{case.operation.method.upper()} {case.operation.path}"
    again = response.request.copy()
    if operation not in SECURED or "Authorization" not in again.headers:
        return
    callers = [("without token", None, 401), ("wrong token", "0" * 64, 401)]
    if again.method == case.operation.method.upper():
        callers.append(("without scope", LACKING[SECURED[operation]], 403))
    for who, token, status in callers:
        again.headers.pop("Authorization", None)
        again.headers.pop("Cookie", None)
        if token:
            again.headers["Authorization"] = "Bearer " + token
        answer = SESSION.send(again, timeout=60)
        count(f"{who} {answer.status_code}")
        assert answer.status_code == status or (
            answer.status_code in (400, 405, 431) and answer.status_code == response.status_code), (
            f"{operation} {who} is answered with {answer.status_code}, not {status}")


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
