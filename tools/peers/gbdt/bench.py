"""The programs that are measured, and the order in which they run."""
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SETTINGS = ["--leaves", 31, "--bins", 255, "--learning-rate", 0.1, "--min-rows", 20]
LIBRARIES = ("ours", "lightgbm", "xgboost")


def say(text):
    print(f"tools/peers/gbdt: {text}", file=sys.stderr, flush=True)


def build(preset):
    folder = ROOT / "build" / preset
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--target", "peer_gbdt"], check=True,
                   stdout=sys.stderr)
    return folder / "bin" / "peer_gbdt"


def install(folder):
    """Installs the peers in a separate environment and returns its Python. Does nothing the
    second time."""
    python = folder / "bin" / "python"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8")
    done = folder / "installed.txt"
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return python
    say(f"installing LightGBM and XGBoost into {folder}")
    venv.create(folder, with_pip=True, clear=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
           "-r", HERE / "requirements.txt"]
    if subprocess.run(pip, check=False, stdout=sys.stderr).returncode != 0:
        sys.exit("tools/peers/gbdt: the peers could not be installed: see above; a package index "
                 "must be reachable (pip's own settings count)")
    done.write_text(wanted, encoding="utf-8")
    return python


@contextlib.contextmanager
def busy_core(wanted):
    """Runs another process that keeps the last core busy meanwhile."""
    if not wanted:
        yield
        return
    core = max(os.sched_getaffinity(0))
    spin = f"import os\nos.sched_setaffinity(0, [{core}])\nwhile os.getppid() == {os.getpid()}:\n" \
           "    sum(range(100000))\n"
    with subprocess.Popen([sys.executable, "-c", spin]) as process:
        try:
            yield
        finally:
            process.kill()


class Bench:
    def __init__(self, program, python, work, trees):
        self.program, self.python, self.work, self.trees = program, python, work, trees

    def with_trees(self, trees):
        return Bench(self.program, self.python, self.work, trees)

    def output_of(self, command):
        """Returns the output of a program: one JSON value."""
        command = [str(c) for c in command]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tools/peers/gbdt: failed ({done.returncode}): {' '.join(command)}")
        return json.loads(done.stdout.strip().splitlines()[-1])

    def make(self, specs):
        """specs: {name: spec of make_tables.py}. Returns the tables that exist, with their
        sizes."""
        made = self.output_of([self.python, HERE / "make_tables.py", self.work,
                               *[f"{name}={spec}" for name, spec in specs.items()]])
        for name, about in made.items():
            if about is None:
                say(f"SKIPPED {name}: no such file ({specs[name]}); --data DIR says where")
        return {name: about for name, about in made.items() if about is not None}

    def train(self, library, table, threads, *more, settings=None):
        """settings: by default those common to all, and the number of trees."""
        begin = ([self.program, "train"] if library == "ours"
                 else [self.python, HERE / "peer_train.py", library])
        if settings is None:
            settings = [*SETTINGS, "--trees", self.trees]
        return self.output_of([*begin, "--data", self.work / table, "--threads", threads, *settings,
                               *more])

    def rounds(self, table, threads, count, libraries=LIBRARIES):
        """Runs each library once per round, in rotating order."""
        samples = collections.defaultdict(list)
        for number in range(count):
            turn = number % len(libraries)
            for library in libraries[turn:] + libraries[:turn]:
                samples[library].append(self.train(library, table, threads))
        return samples

    def judge(self, name, seed, defaults):
        """AUC and log loss of each library, trained on one thread: the peers' spinning barriers
        take very long on a machine with other work."""
        table, scores = f"{name}.{seed}", []
        for library in LIBRARIES:
            settings = None
            if defaults:
                settings = [] if library == "ours" else ["--defaults"]
            scores.append(self.work / f"{table}.{library}.scores")
            self.train(library, f"{table}.train", 1, "--test", self.work / f"{table}.test",
                       "--predictions", scores[-1], settings=settings)
        test = self.work / f"{table}.test"
        return dict(zip(LIBRARIES, self.output_of([self.python, HERE / "judge.py", test, *scores])))

    def predict(self, table, rounds):
        """Times of scoring: the output of peer_gbdt."""
        packages = self.output_of([self.python, "-c", "import json, sysconfig; "
                                   "print(json.dumps(sysconfig.get_paths()['platlib']))"])
        command = [self.program, "predict", "--data", self.work / table, "--trees", self.trees,
                   "--rounds", rounds, *SETTINGS]
        for library, file, kind in (("lightgbm", "lib_lightgbm.so", "txt"),
                                    ("xgboost", "libxgboost.so", "json")):
            model = self.work / f"{table}.{library}.{kind}"
            self.train(library, table, 1, "--model", model)
            command += [f"--{library}", pathlib.Path(packages) / library / "lib" / file,
                        f"--{library}-model", model]
        return self.output_of(command)
