"""The account of the error budget: what a certificate says of it, and the ledger's file."""
import json
import math
from hashlib import sha256

from bounds import near, need

NEVER = '"1970-01-01T00:00:00Z"'
CLOSED = "CERTIFIED", "NO_SOLUTION_FOUND"


def raw(text, member):
    """The bytes of a member's value, as they were signed."""
    start = text.index(f'"{member}":') + len(member) + 3
    return text[start:json.JSONDecoder().raw_decode(text, start)[1]]


def digest(text):
    return sha256(text.encode()).hexdigest()


def history_weight(m, s):
    return 0.9 * 0.25 ** s * 0.75 ** (m - s) + 0.1 * 0.03 ** s * 0.97 ** (m - s)


def worst_strategy(runs):
    """The largest sum of charges of harmful candidates that a strategy reaches of a budget of 1."""
    later = [0.0] * (runs + 2)
    for m in range(runs - 1, -1, -1):
        for s in range(m + 1):
            later[s] += max(history_weight(m, s) / runs, later[s + 1])
    return later[0] * (1 + 1e-9)


def delta_of_run(epoch, registrations, certified):
    """The charge of a run after so many registrations and certificates."""
    reserve = epoch.get("reserve", 0)
    equal = (epoch["delta_epoch"] - reserve) / epoch["runs"]
    if epoch["spending"] == "equal":
        return equal
    need(epoch["spending"] == "by_history" and certified <= registrations, "spending")
    if reserve:
        return equal * history_weight(registrations, certified) / worst_strategy(epoch["runs"])
    return equal * 2.0 ** -(certified + 1) / math.comb(registrations, certified)


def blanked(identity, members):
    """The identity's text without what a further look changes."""
    for member, blank in (("vault_rule", '""'), ("period_from", NEVER), ("period_to", NEVER)):
        identity = identity.replace(f'"{member}":{raw(identity, member)}', f'"{member}":{blank}', 1)
    for member in ("drift_auc", "read_before", "repeats", "later_records", "without_exploration",
                   "stopped", "proposed_by", "software", "training_recipe", "logger_periods",
                   "decisions", "in_no_group", "left_out"):
        if member in members:
            identity = identity.replace(f',"{member}":{raw(identity, member)}', "", 1)
    return identity


def frozen_group(group, fixed):
    """A group's text with what follows from the vault's records set to 0."""
    member = lambda name: f'"{name}":{raw(group, name)}'
    zeros = lambda names: [f'"{name}":0' for name in names.split()]
    kept = [member(name) for name in ("name", "group", "against")]
    kept += zeros("records units expected_outcomes missing_outcomes max_trust_ratio")
    kept += [member("lo"), member("hi")] if fixed else zeros("lo hi")
    kept += zeros("mean_weight mean_weight_z effective_records max_weight_deviation "
                  "calibration_z decile_z")
    refer = ["q_refer"] * ('"q_refer":' in group)
    kept += [member(name) for name in ("q_approve", "q_decline", *refer, "plan_variance",
                                       "selection_units", "bets", "bet_weights")]
    return "{" + ",".join(kept + zeros("bet_cap")) + "}"


def frozen_digest(text, plan):
    """SHA-256 of the plan without what a further look changes: the vault's records and period."""
    text = raw(text, "plan")
    config, groups, at = raw(text, "config"), raw(text, "groups"), 1
    config = config.replace(f',"valid_months":{plan["config"].get("valid_months", 0)}', "", 1)
    identity, kept = blanked(raw(text, "identity"), plan["identity"]), []
    for _ in plan["groups"]:
        end = json.JSONDecoder().raw_decode(groups, at)[1]
        kept.append(frozen_group(groups[at:end], plan["config"].get("records_per_person", 0)))
        at = end + 1
    selection = raw(text[text.index(',"selection_digest":'):], "selection_digest")
    return digest(
        f'{{"config":{config},"identity":{identity},"delta":{raw(text, "delta")},"loggers":[],'
        '"calibration_z":0,"decile_z":0,"logger_calibration_z":[],"logger_decile_z":[],'
        f'"groups":[{",".join(kept)}],"selection_digest":{selection},"vault_records":0,'
        f'"vault_digest":"{"0" * 64}"}}')


def check_reference(text, c):
    """What the certificate says of the ledger fits itself and the plan."""
    plan, ledger = c["plan"], c["ledger"]
    config, identity, look = plan["config"], plan["identity"], plan.get("look", 0)
    run, epoch, part = ledger["registration"], ledger["epoch"], text[text.index(',"ledger":'):]
    entry = (f'{{"sequence":{ledger["sequence"]},"previous":"{ledger["previous"]}",'
             f'"epoch_opened":null,"registration":{raw(part, "registration")},"closing":null}}')
    need(type(ledger["sequence"]) is int and digest(entry) == ledger["entry"], "the ledger entry")
    need(digest(raw(text, "plan")) == run["plan"], "the registered plan")
    registered = {k: identity[k] for k in ("candidate", "reference", "vault_rule")}
    need({k: run[k] for k in registered} == registered, "the registration")
    need(run["epoch"] == epoch["epoch"] and run.get("look", 0) == look, "the registration")
    need(run["frozen"] == frozen_digest(text, plan), "what is frozen for further looks")
    again = config["bound"] == "betting" and config.get("centres") != "regression"
    need(look == 0 or (again and "constraints" not in config), "the right to a further look")
    before, certified = ledger.get("looks_before", 0), ledger["certificates_before"]
    reserve = epoch.get("reserve", 0)
    paid = 0 < reserve < epoch["delta_epoch"] and reserve == config["calibration_level"]
    need(reserve == 0 or paid, "the reserve")
    counted = before == 0 or epoch.get("counts_looks")
    within = 1 <= run["run"] <= epoch["runs"] - before
    need(within and 0 <= certified < run["run"] and counted, "the run's number")
    delta = delta_of_run(epoch, run["run"] - 1 + before, certified)
    near(plan["delta"], delta, "delta")
    near(run["delta"], delta, "the registered delta")
    if look == 0 and epoch["spending"] == "equal":
        near(run["spent_before"], (run["run"] - 1) * delta, "what was spent before")
    declared = config["runs_per_epoch"], config["spending"], config["delta_epoch"]
    need((epoch["runs"], epoch["spending"], epoch["delta_epoch"]) == declared, "the budget")
    need(run["at"] <= c["vault_read_at"] <= c["issued_at"], "the order of times")
    charged, issued = run.get("wall_clock"), c.get("issued_wall_clock")
    need(charged == issued or None not in (charged, issued) and charged < issued, "wall clock")


class Chain:
    """The entries of a ledger's file, each of which continues those before."""

    def __init__(self, data):
        self.entries = data.decode().split("\n")[:-1]  # the rest is half written
        self.epoch, self.open, self.latest, self.references = None, None, "", []
        previous = ""
        for number, text in enumerate(self.entries):
            entry, where = json.loads(text), f"entry {number} of the ledger"
            need((entry["sequence"], entry["previous"]) == (number, digest(previous)), where)
            previous = text
            bodies = {k: entry[k] for k in ("epoch_opened", "registration", "closing")}
            (kind, body), = ((k, body) for k, body in bodies.items() if body is not None)
            reference = getattr(self, kind)(body, where)
            self.references.append(reference)
            self.latest = max(self.latest, body["at"])

    def epoch_opened(self, epoch, where):
        need(not self.open and (not self.epoch or epoch["epoch"] == self.epoch["epoch"] + 1), where)
        need(self.epoch or epoch["epoch"] == 1, where)
        reserve, counts = epoch.get("reserve", 0), epoch.get("counts_looks", False)
        budget = 0 < epoch["delta_epoch"] <= 0.5 and 0 <= reserve < epoch["delta_epoch"]
        need(budget and 1 <= epoch["runs"] <= 1000 and epoch["at"] >= self.latest, where)
        need(not counts or epoch["spending"] == "by_history", where)
        self.epoch, self.runs, self.spent, self.certified, self.looks = epoch, [], 0.0, 0, 0

    def registration(self, run, where):
        need(not self.open and self.epoch and run["epoch"] == self.epoch["epoch"], where)
        need(run["candidate"] and run["reference"], where)
        near(run["spent_before"], self.spent, where)
        if run.get("look", 0) > 0:
            pair = run["candidate"], run["reference"]
            of_pair = [x for x in self.runs
                       if (x["last"]["candidate"], x["last"]["reference"]) == pair]
            need(of_pair, where)
            own = of_pair[-1]
            last, closing = own["last"], own["closing"]
            need(closing["certificate"] and closing["verdict"] == "NO_SOLUTION_FOUND", where)
            kept = all(run[k] == last[k] for k in ("run", "delta", "frozen"))
            need(kept and run["look"] == last.get("look", 0) + 1, where)
            self.looks += self.epoch.get("counts_looks", False)
        else:
            own = {"certified": self.certified, "looks": self.looks}
            self.runs.append(own)
            need(run["run"] == len(self.runs) <= self.epoch["runs"] - self.looks, where)
            delta = delta_of_run(self.epoch, run["run"] - 1 + self.looks, self.certified)
            near(run["delta"], delta, where)
            self.spent += run["delta"]
        self.open = own
        own |= {"last": run, "closing": None}
        return self.epoch, own["certified"], own["looks"]

    def closing(self, closing, where):
        run = self.open and self.open["last"]
        need(run and (closing["epoch"], closing["run"]) == (run["epoch"], run["run"]), where)
        need(closing["verdict"] in CLOSED and len(closing["certificate"]) in (0, 64), where)
        self.certified += closing["verdict"] == "CERTIFIED"
        self.open["closing"], self.open = closing, None

    def check(self, c, certificate):
        """The certificate's run is in the ledger, and was closed with this certificate."""
        ledger = c["ledger"]
        if ledger is None:
            return  # a refusal is in no ledger
        at, run = ledger["sequence"], ledger["registration"]
        recorded = 0 <= at < len(self.entries) and digest(self.entries[at]) == ledger["entry"]
        need(recorded, "the ledger has not this run")
        said = ledger["epoch"], ledger["certificates_before"], ledger.get("looks_before", 0)
        need(self.references[at] == said, "the ledger's epoch, certificates or looks before")
        for text in self.entries[at + 1:]:
            closing = json.loads(text)["closing"]
            if closing and (closing["epoch"], closing["run"]) == (run["epoch"], run["run"]) and \
                    closing["certificate"] == sha256(certificate).hexdigest():
                return need(closing["verdict"] == c["verdict"], "the ledger's verdict")
        need(False, "the ledger did not close the run with this certificate")
