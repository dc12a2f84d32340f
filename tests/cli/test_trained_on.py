"""seqlab evaluate says how much of a given file the run was trained on, before it scores it."""

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from example_files import labelled
from small_runs import train_small

from seqlab import api
from seqlab.errors import SeqlabWarning
from seqlab.training.progress import Reporter

Command = Callable[..., Any]


def words(count: int, seed: int) -> str:
    draw = random.Random(seed)
    return " ".join("".join(draw.choices("abcdefgh", k=draw.randint(2, 7))) for _ in range(count))


TEXT = words(1200, seed=0)


@pytest.fixture
def run(text: Path) -> Path:
    return train_small(text, Path("r")).path


def test_text(run: Path, text: Path, seqlab: Command) -> None:
    lines = seqlab("evaluate", "r", "my.txt").out.splitlines()
    assert lines[0].startswith("90% of this data is in the training text (") and "new data will be harder" in lines[0]
    Path("new.txt").write_text(words(300, seed=1), encoding="utf-8")
    assert seqlab("evaluate", "r", "new.txt").out.startswith("None of this data is in the training text (0 of ")
    content = json.loads(seqlab("evaluate", "r", "my.txt", "--json").out)
    assert 0.88 < content["trained_share"] < 0.92
    with pytest.warns(SeqlabWarning, match=r"^90% of this data is in the training text .*: new data will be harder"):
        assert api.evaluate("r", "my.txt").trained_share == content["trained_share"]
    assert "trained_share" not in json.loads(seqlab("evaluate", "r", "--json").out)


def test_a_text_with_its_lines_in_another_order(text: Path, seqlab: Command) -> None:
    """Most windows lie across two lines that were not beside each other."""
    lines = [words(6, seed=seed) for seed in range(300)]
    Path("lines.txt").write_text("\n".join(lines), encoding="utf-8")
    train_small(Path("lines.txt"), Path("s"))
    random.Random(0).shuffle(lines)
    Path("shuffled.txt").write_text("\n".join(lines), encoding="utf-8")
    said = seqlab("evaluate", "s", "shuffled.txt").out.splitlines()[0]
    found = re.match(r"(\d+)% of this data .* In another order, (\d+)% of its lines are \((\d+) of (\d+) of 20 ", said)
    assert (
        found and int(found[1]) < 40 and int(found[2]) in range(87, 92) and said.endswith(": new data will be harder.")
    )
    assert int(found[4]) == sum(len(line) >= 20 for line in lines)
    assert json.loads(seqlab("evaluate", "s", "shuffled.txt", "--json").out)["trained_share"] > 0.85
    assert "another order" not in seqlab("evaluate", "s", "lines.txt").out.splitlines()[0]


@pytest.mark.filterwarnings("ignore:.*also occur in what:seqlab.errors.SeqlabWarning")
def test_a_text_that_the_weights_have_seen_before(run: Path, text: Path, seqlab: Command) -> None:
    """A run that started from another one remembers what that one was trained on, too."""
    Path("new.txt").write_text(words(300, seed=1), encoding="utf-8")
    for started, start in (("s", "r"), ("t", "s")):
        assert seqlab("train", "new.txt", "--init", start, "--steps", "1", "--threads", "1", "--out", started).code == 0
    for later in ("s", "t"):
        said = seqlab("evaluate", later, "my.txt").out.splitlines()[0]
        none, _, rest = said.partition(". ")
        assert none.startswith("None of this data is in the training text (0 of "), said
        assert re.match(r"9\d% of it is in what '.*r', which this run starts from, was trained on \(", rest), said
        assert rest.endswith(": new data will be harder.") and "s'," not in rest, "the run's own text is not said twice"
        assert json.loads(seqlab("evaluate", later, "my.txt", "--json").out)["trained_share"] > 0.88
    text.unlink()
    Path("other.txt").write_text(words(300, seed=2), encoding="utf-8")
    assert "Whether any of it is in what '" in seqlab("evaluate", "t", "other.txt").out


def test_a_training_text_that_is_gone(run: Path, text: Path, seqlab: Command) -> None:
    text.rename("moved.txt")
    answer = seqlab("evaluate", "r", "moved.txt")
    assert answer.code == 0 and answer.out.startswith("How much of this data was trained on is not known: ")


@pytest.mark.filterwarnings("ignore:.*of the given examples are unknown to the tokenizer:seqlab.errors.SeqlabWarning")
@pytest.mark.filterwarnings("ignore:results are based on 60 examples:seqlab.errors.SeqlabWarning")
def test_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab: Command) -> None:
    monkeypatch.chdir(tmp_path)
    Path("reviews.tsv").write_text(labelled(), encoding="utf-8")
    sizes: dict[str, Any] = {"hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1, "steps": 2}
    run = api.train("reviews.tsv", out="r", reporter=Reporter(), **sizes)
    trained = run.config["corpus"]["examples"]["train"]
    first = seqlab("evaluate", "r", "reviews.tsv").out.splitlines()[0]
    assert first.startswith(f"{trained / 60:.0%} of this data is in the training examples ({trained} of 60 inputs)")
    rows = [line.split("\t") for line in Path("reviews.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    long = [f"{text} {text} {text}\t{label}" for text, label in rows]
    Path("long.tsv").write_text("\n".join(["text\tlabel", *long]), encoding="utf-8")
    api.train("long.tsv", out="l", reporter=Reporter(), **sizes)
    reposts = [f"RT @me: {line}" for line in long]
    Path("reposts.tsv").write_text("\n".join(["text\tlabel", *reposts]), encoding="utf-8")
    said = " ".join(seqlab("evaluate", "l", "reposts.tsv").out.split())
    assert said.startswith("None of this data is in the training examples (0 of 60 inputs). With small changes, ")
    assert "new data will be harder." in said


def by_authors(first: int, count: int, header: str = "text,label,author") -> str:
    """New texts of the same twenty authors."""
    rows = (f"{words(6, seed=at)},{'good' if at % 3 else 'bad'},Author {at % 20}" for at in range(first, first + count))
    return "\n".join([header, *rows]) + "\n"


@pytest.mark.filterwarnings("ignore::seqlab.errors.SeqlabWarning")  # on few examples and unknown words
def test_examples_of_known_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab: Command) -> None:
    """New texts of authors that the run was trained on are easier than those of new authors."""
    monkeypatch.chdir(tmp_path)
    Path("train.csv").write_text(by_authors(0, 100), encoding="utf-8")
    Path("validation.csv").write_text(by_authors(100, 40).replace("Author", "Other"), encoding="utf-8")
    sizes: dict[str, Any] = {"hidden": 8, "embedding": 8, "batch_size": 4, "threads": 1, "steps": 2}
    groups = {"corpus.groups": "author", "corpus.validation": ["validation.csv"]}
    api.train("train.csv", out="r", reporter=Reporter(), settings=groups, **sizes)
    new = "None of this data is in the training examples (0 of 40 inputs)."
    belong = "given examples belong to a group that is also in the training split"

    Path("known.csv").write_text(by_authors(200, 40, "text,label,Author"), encoding="utf-8")
    answer = seqlab("evaluate", "r", "known.csv")
    assert " ".join(answer.out.split()).startswith(f"{new} 40 of the 40 {belong}: new data will be harder.")
    with pytest.warns(SeqlabWarning) as noted:
        api.evaluate("r", "known.csv")
    assert not [note for note in noted if "not used" in str(note.message)]
    Path("half.csv").write_text(by_authors(200, 40).replace("Author 1", "Nobody "), encoding="utf-8")
    assert api.evaluate("r", "half.csv").trained_note.startswith(f"{new} 18 of the 40 {belong}")

    Path("none.csv").write_text(by_authors(200, 40).replace("Author", "Stranger"), encoding="utf-8")
    Path("without.csv").write_text(by_authors(200, 40, "text,label,stars"), encoding="utf-8")
    for file in ("none.csv", "without.csv"):
        assert api.evaluate("r", file).trained_note == new
    for label in ("good", "bad"):
        folder = Path("folder") / label
        folder.mkdir(parents=True)
        (folder / "1.txt").write_text(words(9, seed=len(label)), encoding="utf-8")
    assert seqlab("evaluate", "r", "folder").code == 0  # it has no columns
