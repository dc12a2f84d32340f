"""README and docs are true today: their commands and code blocks run, in order, in an empty folder."""

import os
import random
import re
import shlex
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from example_files import write_all

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
WORDS = (
    *("cat", "dog", "hen", "fox", "owl", "sat", "ran", "saw", "ate", "hid", "on", "by", "near", "under", "mat", "hut"),
    *("sea", "oak", "hill", "red", "old", "big", "wet", "shy"),
)
DRAW = random.Random(0)
TEXT = "".join(f"The {' '.join(DRAW.choices(WORDS, k=9))}.\n" for _ in range(300))

# the pages say what people would type; the tests train smaller models for a shorter time
SMALL_COMPARISON = [
    *("--budget", "steps=6", "--seeds", "1", "--tune", "0", "--match", "params=800", "--jobs", "1"),
    *("--batch-size", "4", "--embedding", "8"),
]
NO_SAMPLES = ["--set", "train.sample_tokens=0"]
SMALLER = ["--hidden", "16", "--embedding", "8", "--threads", "1", *NO_SAMPLES]


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def with_options(command: list[str], options: list[str]) -> list[str]:
    """The command with options and their values in place of its own, since an option is taken once; --set repeats."""
    given = dict(zip(options[::2], options[1::2], strict=True))
    kept = list(command)
    for option in given:
        if option in kept and option != "--set":
            del kept[kept.index(option) : kept.index(option) + 2]
    return [*kept, *options]


def shortened(command: list[str]) -> list[str]:
    if "--recipe" in command and command[1] == "compare":  # a recipe says which models there are; some have none
        return (
            command if "attention-scaling" in command else with_options(command, ["--budget", "steps=6", "--jobs", "1"])
        )
    if command[1] in ("compare", "distill"):
        entrants = ["--archs", "rnn,gru"] if command[1] == "compare" else []
        window = [] if "reviews.tsv" in command else ["--window", "16"]
        return with_options(command, [*SMALL_COMPARISON, *entrants, *window])
    limits = {"--steps": "6", "--more": "6", "--epochs": "0.1", "--seconds": "1", "--hidden": "16"}
    for option, value in limits.items():
        if option in command:
            command[command.index(option) + 1] = value
    if command[1] != "train":
        return command
    if "--init" in command:  # the model is as large as the one it starts from
        return [*command, *NO_SAMPLES]
    steps = [] if {"--steps", "--epochs", "--seconds"} & set(command) else ["--steps", "6"]
    return with_options(command, [*SMALLER, *steps])


# pages whose comparisons take long, or that start processes; the README compares, too
LONG = {"comparison.md", "recipes.md", "scale.md", "synthetic.md"}


@pytest.mark.filterwarnings("ignore:.*are unknown to the")
@pytest.mark.filterwarnings("ignore:.*without any token that")
@pytest.mark.filterwarnings("ignore:.*cut off at their longest allowed length")
@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token")  # the pages name words that small data lacks
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow if page.name in LONG else ()) for page in PAGES],
    ids=lambda page: page.name,
)
def test_commands_and_code_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers_in_process: None
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("seqlab.training.timing.TIMED_STEPS", 2)
    Path("my.txt").write_text(TEXT, encoding="utf-8")
    write_all(tmp_path)
    write_benchmarks()
    Path("names.txt").write_text("\n".join(sorted({f"{a}{b}a" for a in "abcdefgh" for b in "eiou"})), encoding="utf-8")
    for language, content in blocks(page):
        if language == "python":
            exec_block(content)
        elif language == "":
            for line in content.splitlines():
                if line.startswith("seqlab "):
                    run_command(shortened(shlex.split(line, comments=True)))
                if line.startswith("torchrun "):
                    run_torchrun(shlex.split(line, comments=True))


def write_benchmarks() -> None:
    """Texts as benchmarks publish them: words and characters between spaces in three files each, and one of bytes."""
    lines = TEXT.splitlines()
    for split, some in {"train": lines[:200], "valid": lines[200:250], "test": lines[250:]}.items():
        for name, layout in {"ptb": " {} \n", "ptb-char": "{}\n"}.items():
            Path(name).mkdir(exist_ok=True)
            spelled = some if name == "ptb" else [" ".join(line.replace(" ", "_")) for line in some]
            Path(name, f"{name}.{split}.txt").write_text("".join(map(layout.format, spelled)), encoding="utf-8")
    Path("enwik8").write_text(TEXT, encoding="utf-8")


def run_command(command: list[str]) -> None:
    from seqlab.__main__ import main

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code in (0, None), f"{shlex.join(command)} ended with {ended.value.code}"


def run_torchrun(command: list[str]) -> None:
    """The command as it is, but on any free port, and shorter."""
    at = command.index("seqlab")
    started = [sys.executable, "-m", "torch.distributed.run", "--standalone", *command[1:at]]
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [*started, "seqlab", *shortened(command[at:])[1:]], env={**os.environ, **paths}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"


def exec_block(content: str) -> None:
    content = content.replace("steps=200", "steps=6, hidden=16, embedding=8, threads=1, sample_tokens=0")
    exec(content.replace("seeds=2", "seeds=1, jobs=1, window=16, batch_size=4, embedding=8"), {})


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w[\w-]*)", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        shown = re.sub(r"^~~~.*?^~~~", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)\)", shown):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_keys_of_results_are_those_that_the_page_names() -> None:
    """All of them, and no others; that everything has a name goes without saying."""
    from seqlab.comparison.results import VERSION, BaselineResult, Entrant, Pair, RunResult, Trial
    from seqlab.metrics.likelihood import Likelihood

    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    assert f'`"version": {VERSION}`' in page
    kinds = {"`entrants`": Entrant, "`runs`": RunResult, "`baselines`": BaselineResult, "`trials`": Trial}
    for key, kind in {**kinds, "`pairs`, `baseline_pairs`": Pair}.items():
        (row,) = re.findall(rf"^\| {key} \| (.*) \|$", page, flags=re.MULTILINE)
        figures = {field.name for field in fields(Likelihood)} if "by name" in row else set()
        expected = {field.name for field in fields(kind)} | figures
        named = set(re.findall(r"`(\w+)`", row)) - {"baseline_pairs"}
        assert expected - {"name", "arch"} <= named <= expected, key


def test_the_comparison_shown_is_what_its_record_gives(tmp_path: Path) -> None:
    """Page, table and the sentences that the docs quote are those of the record results/tiny-shakespeare.json."""
    from seqlab.comparison.compare import Comparison
    from seqlab.comparison.judgment.verdicts import baseline_sentence
    from seqlab.comparison.records.record import read_records

    done = Comparison(tmp_path, read_records(ROOT / "results")["tiny-shakespeare"])
    done.report(tmp_path)
    for name in ("report.html", "table.md"):
        assert (tmp_path / name).read_bytes() == (ROOT / "docs" / "comparison" / name).read_bytes(), name
    shown = " ".join((ROOT / "docs" / "comparison.md").read_text(encoding="utf-8").split())
    counted = baseline_sentence(done.results.baseline_pairs, done.results.baselines, done.results.metric)
    for words in (*done.table().splitlines(), *done.verdicts, counted, done.results.command):
        assert " ".join(words.split()) in shown, words
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    quoted = readme.split("~~~text\n")[1].split("\n~~~")[0].splitlines()
    assert quoted and set(quoted) <= {*done.verdicts, counted}
