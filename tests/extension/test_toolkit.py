"""A tokenizer, corpora, a task, a metric, a measure and a view of another package, each used end to end."""

from pathlib import Path

from separate_package import ROOT, TOOLKIT, fresh_environment, run_in

STUDY = """
about = "which architecture guesses grades best"
measures = ["favorite"]

[comparison]
seeds = 1
match = "none"
budget = "steps=3"
tune = 0
jobs = 1

[corpus]
source = ["grades"]

[tokenizer]
name = "ascii"

[task]
metric = "distance"
batch_size = 8

[model]
embedding = 8

[train]
threads = 1

[models.rnn]
backbone = { name = "rnn", hidden = 8 }

[models.gru]
backbone = { name = "gru", hidden = 8 }
"""
JOURNEY = f"""
import subprocess
import sys

sys.path.append({str(ROOT / "tests")!r})

import seqlab
from in_process_workers import in_process_workers
from seqlab.processes import python_command
from seqlab.testing import check_task, check_tokenizer

check_tokenizer("ascii")
check_task("smoothed", task__smoothing=0.0)

small = dict(hidden=8, embedding=8, window=16, threads=1)
run = seqlab.train("counting", tokenizer="ascii", arch="gru", steps=3, out="run", **small)
assert run.tokenizer.vocab_size == 129, run.tokenizer.vocab_size
run = seqlab.load("run")
assert run.config["corpus"]["name"] == "counting" and str(run.generate("1 and ", length=5))
assert seqlab.evaluate(run).metrics["tokens"] > 0
assert run.inspect("1 and 2", "widths").as_dict()["widths"]["counts"] == [1] * 7

with in_process_workers():
    compared = seqlab.compare(recipe="study.toml", out="compared")
best = compared.best
assert best.settings.task.name == "smoothed" and best.settings.task.settings.smoothing == 0.1
assert type(best.tokenizer).__name__ == "AsciiTokenizer"
assert compared.results.metric.key == "distance" and "distance" in compared.verdicts[0], compared.verdicts
measured = [result.measures["favorite"] for result in compared.results.runs]
assert len(measured) == 2 and all(measure.data["label"] in "123" for measure in measured), measured
assert "the favorite grade is" in open("compared/report.html", encoding="utf-8").read()

# worker processes know the package, too
subprocess.run(python_command("from seqlab.registry import TASKS; sys.exit('smoothed' not in TASKS)"), check=True)
"""


def test_one_package_provides_everything_but_an_architecture(tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "environment", TOOLKIT)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    (tmp_path / "journey.py").write_text(JOURNEY, encoding="utf-8")
    done = run_in(tmp_path, python, "journey.py")
    assert done.returncode == 0, done.stderr
