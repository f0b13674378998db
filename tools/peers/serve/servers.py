"""The servers that are compared. Each is started for its turn and ended after it."""
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
TICKS = os.sysconf("SC_CLK_TCK")


def processes_below(root):
    """Returns the process and all that it started, each with its ticks of CPU."""
    parents, used = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(entry)] = int(fields[1])
        used[int(entry)] = int(fields[11]) + int(fields[12])
    found = {root}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        if not more:
            return {pid: used.get(pid, 0) for pid in found}
        found |= more


class Server:
    """A process that answers POST /v1/decisions at `endpoint`, 127.0.0.1:PORT. To be used by
    `with`, which begins when it answers."""
    scheme, token, context = "http", "t", None

    def __init__(self, command, log, **more):
        self.log_file = log
        self.log = open(log, "w", encoding="utf-8")
        self.process = subprocess.Popen([str(x) for x in command], stderr=self.log,
                                        stdout=more.pop("stdout", self.log), **more)
        self.endpoint = None

    def __enter__(self):
        try:
            self.begin()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            for pid in processes_below(self.process.pid):
                os.kill(pid, signal.SIGKILL)
            self.process.wait()
        self.log.close()

    def begin(self):
        """Waits until there is an endpoint."""
        deadline = time.monotonic() + 120
        while not (found := self.find()):
            if self.process.poll() is not None or time.monotonic() > deadline:
                sys.exit(f"tools/peers/serve: {type(self).__name__} did not start:\n"
                         + self.log_file.read_text(encoding="utf-8")[-2000:])
            time.sleep(0.02)
        self.endpoint = found

    def ask(self, method, path, body=None):
        """Returns the text of an answer of 200."""
        if self.context is None:
            connection = http.client.HTTPConnection(self.endpoint, timeout=60)
        else:
            connection = http.client.HTTPSConnection(self.endpoint, timeout=60,
                                                     context=self.context)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            sys.exit(f"tools/peers/serve: {method} {path} of {type(self).__name__}: "
                     f"{answer.status} {text[:500]}")
        return text

    def cpu_seconds(self):
        """Returns the CPU time of the process and of all that it started."""
        return sum(processes_below(self.process.pid).values()) / TICKS

    def settle(self, patience=60):
        """Waits until next to nothing is done any more; returns whether that was so."""
        deadline, calm, before = time.monotonic() + patience, 0, self.cpu_seconds()
        while time.monotonic() < deadline:
            time.sleep(0.5)
            now = self.cpu_seconds()
            calm, before = calm + 1 if now - before < 0.03 else 0, now
            if calm == 2:
                return True
        return False

    def counts(self):
        """Returns what the server counted: nothing, where it does not count."""
        return {}


class Rampart(Server):
    """`rampart serve` on the store in `folder`, by its own configuration."""

    def __init__(self, programs, folder):
        self.file = folder / "store" / "endpoint"
        self.file.unlink(missing_ok=True)
        super().__init__([programs / "rampart", "serve", "--config", folder / "rampartd.toml"],
                         folder / "service.log")
        self.token = (folder / "store/keys/token").read_text(encoding="utf-8").strip()
        certificate = folder / "server.pem"
        if certificate.exists():
            self.scheme = "https"
            self.context = ssl.create_default_context(cafile=certificate)

    def find(self):
        if not self.file.exists():
            return None
        return self.file.read_text(encoding="utf-8").strip().rpartition("/")[2]

    def begin(self):
        super().begin()
        self.ask("GET", "/readyz")

    def counts(self):
        seen = {"decisions": 0, "groups": 0, "ok": 0, "other": 0}
        for line in self.ask("GET", "/metrics").splitlines():
            name, _, value = line.rpartition(" ")
            if name.startswith("rampart_decisions_total"):
                seen["decisions"] += int(float(value))
            elif name == "rampart_decide_seconds_count":
                seen["groups"] += int(float(value))
            elif name.startswith("rampart_http_requests_total") and "/v1/decisions" in name:
                seen["ok" if 'status="200"' in name else "other"] += int(float(value))
        return seen


class Echo(Server):
    """Boost.Beast and nothing else: the body back as the answer."""

    def __init__(self, programs, work):
        super().__init__([programs / "peer_service_echo"], work / "echo.log",
                         stdout=subprocess.PIPE, text=True)

    def find(self):
        return self.process.stdout.readline().strip()


class Python(Server):
    """FastAPI and uvicorn with a worker for each core. `call`: see app.py."""

    def __init__(self, python, work, workers, call="fast"):
        command = [python, "-m", "uvicorn", "app:app", "--app-dir", HERE, "--host", "127.0.0.1",
                   "--port", 0, "--workers", workers, "--loop", "uvloop", "--http", "httptools",
                   "--ws", "none", "--lifespan", "off", "--no-access-log", "--no-server-header",
                   "--no-date-header", "--no-proxy-headers"]
        super().__init__(command, work / "python.log", env=os.environ | {
            "PEER_SERVE_MODEL": str(work / "model.txt"),
            "PEER_SERVE_SCHEMA": str(work / "schema.toml"), "PEER_SERVE_CALL": call,
            "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"})
        self.workers = workers

    def find(self):
        text = self.log_file.read_text(encoding="utf-8")
        ready = text.count("Started server process")
        address = re.search(r"running on \S*?(127\.0\.0\.1:\d+)", text)
        return address.group(1) if address and ready >= self.workers else None


def same_scores(one, other, bodies):
    """Returns the largest difference of the two servers' scores, and how often they were asked."""
    worst = 0.0
    for number, body in enumerate(bodies):
        text = body.replace("@", f"same-{number}")
        scores = [json.loads(server.ask("POST", "/v1/decisions", text))["score"]
                  for server in (one, other)]
        worst = max(worst, abs(scores[0] - scores[1]))
    return worst, len(bodies)
