#!/usr/bin/env python3
"""Rules of form for schemas/http/openapi.yaml, beside openapi-spec-validator, which says whether it
is OpenAPI at all (contract.py). Each rule is a function that yields what is wrong. `--plant` breaks
the document in many ways, and sees that the rule in question finds it and that no other does. Needs
no more than Python and PyYAML of Debian."""
import argparse
import copy
import pathlib
import re
import sys

import yaml

METHODS = ("get", "put", "post", "delete", "patch")
PROBLEM = "application/problem+json"
PROBLEM_SCHEMA = {"$ref": "#/components/schemas/Problem"}
PROBES = ("/healthz", "/readyz")  # a report of checks with 503 is an answer, not a problem
INLINE_LEVELS = 2
MOST_LINES = 4  # of a summary, at 100 characters; what is longer is a description


def operations(document):
    """Yields the name of each operation, its path and itself."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", path, item[method]


def resolved(document, node):
    """The component that a reference names, or the node."""
    while isinstance(node, dict) and "$ref" in node:
        kind, name = node["$ref"].removeprefix("#/components/").split("/")
        node = document["components"][kind][name]
    return node


def answers(document, operation):
    """Yields status and answer of an operation, without references."""
    for status, answer in operation["responses"].items():
        yield str(status), resolved(document, answer)


def bodies(document):
    """Yields a name and the media type object of each body that is sent or answered."""
    for name, _, operation in operations(document):
        sent = resolved(document, operation.get("requestBody", {}))
        for kind, media in sent.get("content", {}).items():
            yield f"{name}: body as {kind}", kind, media
        for status, answer in answers(document, operation):
            for kind, media in answer.get("content", {}).items():
                yield f"{name}: {status} as {kind}", kind, media


def parameters(document):
    """Yields the name of its operation, the path and each parameter."""
    for name, path, operation in operations(document):
        item = document["paths"][path]
        for parameter in item.get("parameters", []) + operation.get("parameters", []):
            yield name, path, resolved(document, parameter)


# --- the rules ------------------------------------------------------------------------------------

def operation_ids(document):
    """Each operation has an id of its own, in camelCase."""
    seen = {}
    for name, _, operation in operations(document):
        given = operation.get("operationId", "")
        if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", given):
            yield f"{name}: operationId '{given}' is not in camelCase"
        elif seen.setdefault(given, name) != name:
            yield f"{name}: operationId '{given}' is that of {seen[given]}"


def summaries(document):
    """Each operation has a summary: a sentence, or a few."""
    for name, _, operation in operations(document):
        summary = operation.get("summary", "").strip()
        if not re.match(r"[A-Z].*\.$", summary, re.DOTALL):
            yield f"{name}: its summary is no sentence: '{summary}'"
        elif len(summary) > MOST_LINES * 100:
            yield f"{name}: its summary has {len(summary)} characters"


def tags(document):
    """Each operation has one tag; each tag has a description, and operations."""
    declared = {tag["name"]: tag.get("description") for tag in document.get("tags", [])}
    used = set()
    for name, _, operation in operations(document):
        given = operation.get("tags", [])
        if len(given) != 1 or given[0] not in declared:
            yield f"{name}: its tags are {given}; one of {sorted(declared)} is needed"
        used.update(given)
    for tag, description in declared.items():
        if not description:
            yield f"tag {tag}: has no description"
        if tag not in used:
            yield f"tag {tag}: no operation has it"


def examples(document):
    """Each body has an example, but for bytes."""
    for what, kind, media in bodies(document):
        shown = [media["example"]] if "example" in media else []
        shown += media.get("examples", {}).values()
        if not shown and kind != "application/octet-stream":
            yield f"{what}: has no example"


def problems(document):
    """Each error is answered with a problem document, and each status has its answer."""
    for name, path, operation in operations(document):
        statuses = set()
        for status, answer in answers(document, operation):
            statuses.add(status)
            content = answer.get("content", {})
            if not answer.get("description"):
                yield f"{name}: {status} has no description"
            if status[0] in "45" and content.get(PROBLEM, {}).get("schema") != PROBLEM_SCHEMA:
                yield f"{name}: {status} is no problem document"
            if status[0] in "45" and set(content) != {PROBLEM} and path not in PROBES:
                yield f"{name}: {status} is answered as {sorted(content)}"
        wanted = {"400", "413", "429", "431", "500", "503"}
        if operation.get("security"):
            wanted |= {"401", "403"}
        if not any(status[0] == "2" for status in statuses):
            yield f"{name}: no answer says that it succeeded"
        if wanted - statuses:
            yield f"{name}: {sorted(wanted - statuses)} are not described"


def callers(document):
    """Each operation says who may call: those with one scope, or, by an empty list, all."""
    for name, _, operation in operations(document):
        security = operation.get("security")
        one_scope = security and all(len(one) == 1 and len(scopes) == 1
                                     for one in security for scopes in one.values())
        if security != [] and not one_scope:
            yield f"{name}: its security is {security}"


def unused_components(document):
    """Each component is used, by reference or, an example, by an alias of its value."""
    visited, found, scopes = set(), set(), set()

    def walk(node):
        if id(node) in visited or not isinstance(node, (dict, list)):
            return
        visited.add(id(node))
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            found.add(node["$ref"])
            walk(resolved(document, node))
        for one in node.values() if isinstance(node, dict) else node:
            walk(one)

    walk(document["paths"])
    for _, _, operation in operations(document):
        for one in operation.get("security", []):
            scopes.update(one)
    for kind, components in document["components"].items():
        for name, component in components.items():
            used = f"#/components/{kind}/{name}" in found
            used |= kind == "examples" and id(component.get("value")) in visited
            used |= kind == "securitySchemes" and name in scopes
            if not used:
                yield f"components/{kind}/{name}: nothing uses it"


def parts_of(schema):
    """Yields what a schema has inline, with the name of the part."""
    for name, part in schema.get("properties", {}).items():
        yield name, part
    for word in ("items", "additionalProperties", "not", "contains"):
        if isinstance(schema.get(word), dict):
            yield word, schema[word]
    for word in ("oneOf", "anyOf", "allOf", "prefixItems"):
        for part in schema.get(word, []):
            yield word, part


def inline_objects(document):
    """A schema has objects in objects without a name to two levels; a body has a named schema."""
    def deeper(where, schema, level):
        if "$ref" in schema:
            return
        if level > INLINE_LEVELS:
            yield f"{where}: an object in {level} others; give one of them a name"
        for name, part in parts_of(schema):
            yield from deeper(f"{where}.{name}", part, level + ("properties" in part))

    for name, schema in document["components"]["schemas"].items():
        yield from deeper(name, schema, 0)
    for what, _, media in bodies(document):
        whole = media.get("schema", {})
        for part in [whole] + whole.get("oneOf", []):
            if "properties" in part:
                yield f"{what}: its schema has no name"


def closed_objects(document):
    """An object says whether it may have members that are not named."""
    def walk(where, schema):
        if "$ref" in schema:
            return
        if "properties" in schema and "additionalProperties" not in schema:
            yield f"{where}: says nothing of additionalProperties"
        names = set(schema.get("properties", {}))
        if set(schema.get("required", [])) - names:
            yield f"{where}: requires {sorted(set(schema['required']) - names)}"
        for name, part in parts_of(schema):
            yield from walk(f"{where}.{name}", part)

    for name, schema in document["components"]["schemas"].items():
        yield from walk(name, schema)


def described_parameters(document):
    """Each parameter is described; those of a path are required, have an example, and are there."""
    for name, path, operation in operations(document):
        wanted = set(re.findall(r"{(\w+)}", path))
        given = {parameter["name"] for owner, _, parameter in parameters(document)
                 if owner == name and parameter["in"] == "path"}
        if wanted != given:
            yield f"{name}: the path has {sorted(wanted)}, its parameters are {sorted(given)}"
    for name, _, parameter in parameters(document):
        what = f"{name}: parameter '{parameter['name']}'"
        if not parameter.get("description"):
            yield f"{what}: has no description"
        if not parameter.get("schema"):
            yield f"{what}: has no schema"
        if parameter["in"] == "path":
            if parameter.get("required") is not True:
                yield f"{what}: is not required"
            if "example" not in parameter:
                yield f"{what}: has no example"


def component_names(document):
    """Schemas, answers and the like have names in PascalCase."""
    for kind, components in document["components"].items():
        if kind == "securitySchemes":
            continue
        for name in components:
            if not re.fullmatch(r"([A-Z][a-z]+)+", name):
                yield f"components/{kind}/{name}: is not in PascalCase"


RULES = (operation_ids, summaries, tags, examples, problems, callers, unused_components,
         inline_objects, closed_objects, described_parameters, component_names)


# --- faults ---------------------------------------------------------------------------------------

def in_components(*where):
    """Returns what finds a part of the components in a document."""
    def find(document):
        node = document["components"]
        for key in where:
            node = node[key]
        return node
    return find


def in_schema(name, *where):
    return in_components("schemas", name, *where)


def in_answer(name, *where):
    return in_components("responses", name, *where)


def in_problem(name):
    return in_answer(name, "content", PROBLEM)


def in_decide(document):
    return document["paths"]["/v1/decisions"]["post"]


def in_application(document):
    return in_decide(document)["requestBody"]["content"]["application/json"]


def in_hold(document):
    answer = document["paths"]["/v1/holds/remove"]["post"]["responses"]["200"]
    return answer["content"]["application/json"]


def in_id(document):
    return document["paths"]["/v1/decisions/{id}"]["get"]["parameters"][0]


def nested(levels):
    """Returns objects in objects, without names."""
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "additionalProperties": False, "properties": {"a": schema}}
    return schema


LIST_OF_DEEP = {"type": "array", "items": nested(INLINE_LEVELS + 1)}
SPARE = {"description": "Spare.", "schema": {"type": "string"}}
OTHER_SCHEMA = {"$ref": "#/components/schemas/Failure"}
TEXT = {"schema": {"type": "string"}, "example": "busy"}

def put(where, **members):
    return lambda document: where(document).update(members)


def drop(where, member):
    return lambda document: where(document).pop(member)


# rules, and changes of the document that break them
FAULTS = (
    (operation_ids, put(in_decide, operationId="getPolicy")),
    (operation_ids, put(in_decide, operationId="decide_one")),
    (operation_ids, drop(in_decide, "operationId")),
    (summaries, put(in_decide, summary="Decides")),
    (summaries, put(in_decide, summary="It decides. " * 40)),
    (summaries, drop(in_decide, "summary")),
    (tags, put(in_decide, tags=[])),
    (tags, put(in_decide, tags=["others"])),
    (tags, lambda document: document["tags"][0].pop("description")),
    (tags, lambda document: document["tags"].append({"name": "new", "description": "New."})),
    (examples, drop(in_problem("TooLarge"), "examples")),
    (examples, drop(in_application, "examples")),
    (problems, put(in_problem("Busy"), schema=OTHER_SCHEMA)),
    (problems, put(in_answer("Busy", "content"), **{"text/plain": TEXT})),
    (problems, drop(in_answer("Failed"), "description")),
    (problems, lambda document: in_decide(document)["responses"].pop("403")),
    (problems, lambda document: in_decide(document)["responses"].update(
        {"302": in_decide(document)["responses"].pop("200")})),
    (callers, drop(in_decide, "security")),
    (callers, put(in_decide, security=[{"token": []}])),
    (callers, put(in_decide, security=[{"token": ["decide", "read"]}])),
    (unused_components, put(in_components("schemas"), Spare={"type": "string"})),
    (unused_components, put(in_components("responses"), Spare={"description": "Spare."})),
    (unused_components, put(in_components("headers"), Spare=SPARE)),
    (unused_components, put(in_components("examples"), Spare={"value": {"a": 1}})),
    (unused_components, put(in_components("securitySchemes"), basic={"type": "http"})),
    (inline_objects, put(in_schema("Problem", "properties"), deep=nested(INLINE_LEVELS + 1))),
    (inline_objects, put(in_schema("Problem", "properties"), deep=LIST_OF_DEEP)),
    (inline_objects, put(in_hold, schema=nested(1))),
    (inline_objects, put(in_hold, schema={"oneOf": [nested(1)]})),
    (closed_objects, drop(in_schema("Application"), "additionalProperties")),
    (closed_objects, put(in_schema("Application"), required=["person"])),
    (closed_objects, put(in_schema("Application", "properties"), open={"properties": {}})),
    (described_parameters, drop(in_id, "description")),
    (described_parameters, drop(in_id, "example")),
    (described_parameters, drop(in_id, "schema")),
    (described_parameters, drop(in_id, "required")),
    (described_parameters, put(in_id, name="number")),
    (component_names, lambda document: in_components("examples")(document).update(
        {"an_application": in_components("examples")(document)["Application"]})),
)


def check_rules(document):
    """Ends the process if a fault is not found by its rule, or is found by another one, too."""
    for number, (rule, change) in enumerate(FAULTS):
        broken = copy.deepcopy(document)
        change(broken)
        found_by = {one.__name__ for one in RULES if any(True for _ in one(broken))}
        if found_by != {rule.__name__}:
            sys.exit(f"fault {number}, of {rule.__name__}, is found by {sorted(found_by)}")
    without = set(RULES) - {rule for rule, _ in FAULTS}
    if without:
        sys.exit(f"no fault is planted for {sorted(rule.__name__ for rule in without)}")
    print(f"{len(FAULTS)} planted faults: each is found by its rule, and by no other")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--plant", action="store_true", help="also see that rules find faults")
    options = parser.parse_args()
    document = yaml.safe_load(options.document.read_text(encoding="utf-8"))
    found = [f"{rule.__name__}: {what}" for rule in RULES for what in rule(document)]
    if found:
        sys.exit("\n".join(found) + f"\n{len(found)} findings")
    print(f"{sum(1 for _ in operations(document))} operations, {len(RULES)} rules: no finding")
    if options.plant:
        check_rules(document)


if __name__ == "__main__":
    main()
