"""seqlab compare, report, and the commands that take a comparison for a run."""

import json
import re
import sys
from pathlib import Path

import pytest

TEXT = "".join(f"the {w} sat on the {v}.\n" for w in ("cat", "dog", "hen", "fox") for v in ("mat", "hut", "sea")) * 60
OPTIONS = [
    *("--archs", "rnn,gru", "--seeds", "2", "--match", "params=1000", "--budget", "steps=30", "--tune", "0"),
    *("--window", "16", "--batch-size", "8", "--embedding", "8", "--set", "train.sample_tokens=0"),
]


def test_the_whole_way(seqlab, text: Path, workers_in_process: None) -> None:
    done = seqlab("compare", "my.txt", "--out", "c", *OPTIONS)
    assert done.code == 0, done.err
    for word in (
        "rnn",
        "gru",
        "kneser-ney",
        "Recommendation",
        "If size matters: ",
        "Verdicts",
        "Baseline",
        "c/report.html",
    ):
        assert word in done.out, word
    assert re.search(r"runs: 4 to do", done.err) and "verdicts on the test split" in done.err
    assert "two seeds" in done.out.lower()

    again = seqlab("compare", "my.txt", "--out", "c", *OPTIONS)
    assert again.code == 0 and again.out == done.out and "runs: " not in again.err
    fewer_jobs = seqlab("compare", "my.txt", "--out", "c", "--jobs", "1", *OPTIONS)
    assert fewer_jobs.out == done.out
    other = seqlab("compare", "my.txt", "--out", "c", *OPTIONS, "--layers", "2")
    assert other.code == 2 and "models.rnn.backbone.layers was 1, not 2" in other.err

    assert seqlab("generate", "c", "--prompt", "the ", "--length", "20").code == 0
    assert json.loads(seqlab("evaluate", "c", "--split", "test", "--json").out)["split"] == "test"
    audited = seqlab("audit", "c")  # this text says the same again and again
    assert audited.code == 1 and audited.out.count("FAIL") == 2
    for failed in ("the splits do not overlap", "held-out data is not copied with small changes"):
        assert failed in audited.out
    trained = seqlab("train", "--from", "c", "--steps", "5", "--out", "t")
    assert trained.code == 0, trained.err
    settings = json.loads(Path("t/config.json").read_text())["settings"]
    best = json.loads(Path("c/best/config.json").read_text())["settings"]
    assert settings["backbone"] == best["backbone"] and settings["train"]["lr"] == best["train"]["lr"]
    assert (settings["corpus"]["split_ratios"], settings["train"]["steps"]) == ("90/10", 5)
    assert seqlab("train", "--from", "c", "--recipe", "names").code == 2

    page = Path("c/report.html").read_text(encoding="utf-8")
    Path("c/report.html").unlink()
    assert seqlab("report", "c").code == 0
    evaluated = f"1 comparison (c) and 1 evaluation ({Path('c/best').readlink().name})"
    assert Path("c/report.html").read_text(encoding="utf-8") == page.replace("by 1 comparison (c),", f"by {evaluated},")
    assert seqlab("runs", "c").out.count("c/runs/") == 4 and "best" not in seqlab("runs", "c").out
    assert seqlab("runs", ".").out.count("c/runs/") == 4  # each once, not again as c/best


def test_comparisons_on_other_texts_are_not_mixed(seqlab, text: Path, workers_in_process: None) -> None:
    Path("other.txt").write_text(TEXT.replace("cat", "cow"))
    few = [*OPTIONS, "--archs", "rnn", "--seeds", "1", "--budget", "steps=4", "--jobs", "1"]
    for name in ("my", "other"):
        assert seqlab("compare", f"{name}.txt", "--out", name, *few).code == 0
    refused = seqlab("report", "my", "other", "--out", "both")
    assert refused.code == 2 and "'my'" in refused.err and "'other'" in refused.err and not Path("both").exists()
    assert seqlab("compare", "my.txt", "--out", "more", *few, "--archs", "lstm").code == 0
    merged = seqlab("report", "my", "more", "--out", "both")
    assert merged.code == 0, merged.err
    content = json.loads(Path("both/results.json").read_text())
    assert {one["name"] for one in content["entrants"]} == {"rnn", "lstm"} and len(content["pairs"]) == 1
    Path("mine").mkdir()
    Path("mine/table.md").write_text("my table")
    for several in (["my"], ["my", "more"]):
        refused = seqlab("report", *several, "--out", "mine")
        assert refused.code == 2 and "table.md' exists, and seqlab did not write it" in refused.err
    assert seqlab("report", "my", "more", "--out", "both").code == 0
    assert seqlab("report", "my", "more").code == 2
    assert seqlab("report", "my", "more", "--out", "my").code == 2
    assert seqlab("report", "nowhere").code == 66


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--archs", "lstm,transformer-encoder"], 2, ["transformer-encoder", "reads ahead"]),
        (["--archs", "lsmt"], 2, ["did you mean 'lstm'"]),
        (["--budget", "step=3"], 2, ["did you mean 'steps'"]),
        (["--recipe", "dmo"], 2, ["did you mean 'demo'"]),
        (["--out", "mine"], 2, ["'mine' is not a comparison"]),
        (["--out", "my.txt"], 2, ["my.txt"]),
        (["--match", "params=1e13"], 2, ["to train; this machine has"]),
    ],
)
def test_refusals(seqlab, text: Path, options: list[str], code: int, words: list[str]) -> None:
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("years of work")
    refused = seqlab("compare", "my.txt", *options)
    assert refused.code == code, refused.err
    assert all(word in refused.err for word in words), refused.err
    assert Path("mine/thesis.txt").read_text() == "years of work"


def test_no_text_and_a_missing_one(seqlab, text: Path) -> None:
    assert seqlab("compare").code == 2
    assert seqlab("compare", "nothing.txt").code == 66


def test_standard_input_is_kept(seqlab, text: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [*OPTIONS, "--archs", "rnn", "--seeds", "1", "--budget", "steps=4", "--jobs", "1", "--out", "c"]
    with text.open("rb") as stream:
        monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": stream, "isatty": lambda self: False})())
        done = seqlab("compare", "-", *few)
    assert done.code == 0, done.err
    assert Path("c/corpus.txt").read_text() == TEXT
    assert "one seed" in done.out.lower()
    assert seqlab("compare", "-", *few).code == 0
