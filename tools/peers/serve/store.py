"""A store whose champion has the trees that LightGBM trained: made as a lender would make it."""
import csv
import datetime
import json
import re
import shutil
import subprocess
import sys
import tomllib

from servers import HERE, Rampart

ROOT = HERE.parents[2]
BODIES = 500


class Maker:
    """`work`: where all files go, `plain` and `tls` with a store each among them."""

    def __init__(self, programs, python, work, size):
        self.programs, self.python, self.work, self.size = programs, python, work, size

    def rampart(self, *arguments):
        ran = subprocess.run([self.programs / "rampart", *[str(x) for x in arguments]],
                             cwd=self.work, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, check=False)
        if ran.returncode not in (0, 1):
            sys.exit(f"rampart {' '.join(map(str, arguments))}: {ran.stderr}")
        return ran.stdout

    def decide_without_training(self):
        config = self.work / "config"
        shutil.copytree(ROOT / "ops/config", config)
        product = config / "demo/simulated.toml"
        text, count = re.subn(r"(?m)^every_months = \d+", "every_months = 0\n"
                              "every_matured = 1000000000", product.read_text(encoding="utf-8"))
        assert count == 1, product
        product.write_text(text, encoding="utf-8")
        subprocess.run([self.programs / "rampart-demo", "--data", "simulated", "--rows",
                        str(self.size["rows"]), "--seed", "1", "--program",
                        self.programs / "rampart", "--config-dir", config, "--out",
                        self.work / "plain"], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(self.work / "plain/schema.toml", self.work / "schema.toml")

    def train(self):
        self.rampart("export-log", "--config", "plain/rampartd.toml", "--side", "development",
                     "--out", "log.csv")
        subprocess.run([self.python, HERE / "fit.py", "log.csv", "schema.toml", "model.txt",
                        str(self.size["trees"]), str(self.size["leaves"])], cwd=self.work,
                       check=True, stdout=sys.stderr)
        self.rampart("import", "--from", "lightgbm", "--model", "model.txt", "--schema",
                     "schema.toml", "--positive", "favourable", "--out", "model.rmp")

    def certify(self):
        made = json.loads(self.rampart("candidate", "--config", "plain/rampartd.toml", "--model",
                                       "model.rmp", "--submit", "--json"))
        if made["run"]["verdict"] != "CERTIFIED":
            sys.exit(f"tools/peers/serve: the model did not pass the gate: {made['run']}")

    def write_bodies(self):
        """Writes requests with the features of the log: today's, with '@' for the number."""
        with open(self.work / "schema.toml", "rb") as file:
            features = tomllib.load(file)["feature"]
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        with open(self.work / "log.csv", encoding="utf-8", newline="") as log, \
                open(self.work / "bodies.jsonl", "w", encoding="utf-8") as out:
            for row, _ in zip(csv.DictReader(log), range(BODIES)):
                values = {}
                for one in features:
                    cell = row[f"x.{one['name']}"]
                    number = one["kind"] == "numeric" and cell
                    values[one["name"]] = float(cell) if number else cell or None
                out.write(json.dumps({"application_id": "@", "person_id": "@", "event_time": now,
                                      "features": values}, separators=(",", ":")) + "\n")

    def go_by_the_wall_clock(self):
        """From the replay's time to today's, which an operator has to accept."""
        config = self.work / "plain/rampartd.toml"
        text = config.read_text(encoding="utf-8")
        config.write_text(text.replace('mode = "event"', 'mode = "system"'), encoding="utf-8")
        with Rampart(self.programs, self.work / "plain") as service:
            self.rampart("clock", "accept", "--config", "plain/rampartd.toml", "--reason",
                         "a replay before")
            if not service.settle(300):
                sys.exit("tools/peers/serve: the service goes on working without requests")

    def copy_with_tls(self):
        folder = self.work / "tls"
        shutil.copytree(self.work / "plain", folder)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj",
                        "/CN=measured", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
                        folder / "server.key", "-out", folder / "server.pem"], check=True,
                       stderr=subprocess.DEVNULL)
        (folder / "server.key").chmod(0o600)
        with open(folder / "rampartd.toml", "a", encoding="utf-8") as config:
            config.write('\n[http.tls]\ncertificate_file = "server.pem"\n'
                         'key_file = "server.key"\n')

    def make(self):
        self.decide_without_training()
        self.train()
        self.certify()
        self.write_bodies()
        self.go_by_the_wall_clock()
        self.copy_with_tls()
