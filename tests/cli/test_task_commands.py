"""Labels, tags and translations from the command line: files as people have them, through training, to predictions."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from example_files import write_all

from seqlab import api
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.runs.checkpoint import checkpoints
from seqlab.training.progress import Reporter

pytestmark = pytest.mark.filterwarnings("always::seqlab.errors.SeqlabWarning")  # they are notes

TINY = (
    "--steps",
    "4",
    "--hidden",
    "8",
    "--embedding",
    "8",
    "--batch-size",
    "4",
    "--threads",
    "1",
    "--evaluate-every",
    "2",
)


class Stopping(Reporter):
    """Breaks off after the fifth step, which no checkpoint has."""

    def step(self, step: int, loss: float, units_per_second: float) -> None:
        if step == 5:
            raise KeyboardInterrupt


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file for each task."""
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path)
    return tmp_path


def test_labels_from_a_table(here: Path, seqlab) -> None:
    answer = seqlab("train", "reviews.tsv", *TINY, "--out", "run")
    assert answer.code == 0
    assert "reviews.tsv has the columns 'text' and 'label': the task is classify" in answer.err
    assert "naive Bayes" in answer.out and "majority" in answer.out and "labeled correctly" in answer.out
    assert "seqlab predict run" in answer.out
    answer = seqlab("predict", "run", "a red fish", "old stone")
    assert answer.code == 0 and answer.out.count("%") == 4 and "warm" in answer.out and "cold" in answer.out
    Path("more.txt").write_text("new bird\n\nblue\n", encoding="utf-8")
    answer = seqlab("predict", "run", "--file", "more.txt", "--json")
    result = json.loads(answer.out)
    assert [one["text"] for one in result] == ["new bird", "", "blue"], "answers stand where the lines stand"
    assert all(sum(result[at]["probabilities"].values()) == pytest.approx(1) for at in (0, 2))
    assert [one["line"] for one in result] == [1, 2, 3]
    assert [one.get("reason") for one in result] == [None, "the line has no text.", None]
    for rows in ('text\nnew bird\n""\nblue\n', "text\nnew bird\n\nblue\n", "text,label\nnew bird,1\n,\nblue,0\n"):
        Path("more.csv").write_text(rows)
        table = json.loads(seqlab("predict", "run", "--file", "more.csv", "--json").out)
        assert [(one["line"], one["text"]) for one in table] == [(2, "new bird"), (3, ""), (4, "blue")]
    blank = seqlab("predict", "run", " ")
    assert blank.code == 2 and "text 1 is ' '" in blank.err
    for options, words in (
        (("--n-best", "3"), "n_best does nothing for a classifier"),
        (("--attention",), "has no attention to show"),
    ):
        refused = seqlab("predict", "run", "red", *options)
        assert refused.code == 2 and words in refused.err
    Path("odd.tsv").write_text("text\tlabel\nred\twarm\nblue\tgreenish\n")
    odd = seqlab("evaluate", "run", "odd.tsv")
    assert odd.code == 65 and "line 3: unknown label 'greenish'" in odd.err
    answer = seqlab("evaluate", "run", "reviews.tsv", "--json")
    assert json.loads(answer.out)["examples"] == 60
    assert seqlab("audit", "run").code == 0
    assert "accuracy" in seqlab("runs").out or seqlab("runs", ".").code == 0


def test_predictions_of_what_training_reads(here: Path, seqlab) -> None:
    excel = "id;message;label\r\n" + "".join(
        f"{at};café {word} {word}{at};{word}\r\n" for at in range(30) for word in "ab"
    )
    Path("excel.csv").write_bytes((excel + "99;;a\r\n").encode("utf-16"))
    answer = seqlab("train", "excel.csv", *TINY, "--out", "run")
    assert answer.code == 0, answer.err
    for said in ("fields are separated by semicolons", "as UTF-16", "skipped 1 of the 61 rows", "line 62: 'message'"):
        assert said in answer.err
    assert "results are based on 6 validation examples, fewer than 200" in answer.err
    Path("new.csv").write_bytes("id,message\n1,na\xefve a\n2,\n3,b\n".encode("cp1252"))
    answer = seqlab("predict", "run", "--file", "new.csv", "--json")
    assert [one["text"] for one in json.loads(answer.out)] == ["naïve a", "", "b"]
    assert "'message' is empty" in json.loads(answer.out)[1]["reason"]
    assert "columns of new.csv: text 'message'; not used: 'id' (1 1, 2 1, 3 1)" in answer.err
    assert "line 3: 'message' is empty" in answer.err
    Path("odd.csv").write_text("a,b\n1,2\n")
    assert "Name it, such as --column a" in seqlab("predict", "run", "--file", "odd.csv").err
    assert seqlab("predict", "run", "--file", "odd.csv", "--column", "b").code == 0
    assert seqlab("predict", "run", "some text", "--column", "b").code == 2
    answer = seqlab("evaluate", "run", "excel.csv", "--json")
    assert answer.code == 0 and "skipped 1 of the 61 rows" in answer.err
    assert json.loads(answer.out)["skipped_rows"] == 1
    Path("foreign.csv").write_text("message,label\nzzz yyy,a\nzzz b,b\n")
    answer = seqlab("evaluate", "run", "foreign.csv")
    assert "first example: <unknown>|<unknown> -> label 'a'" in answer.out
    assert "75.0% of the tokens of the given examples are unknown to the tokenizer" in answer.err
    assert json.loads(seqlab("evaluate", "run", "foreign.csv", "--json").out)["unknown_share"] == 0.75
    answer = seqlab("predict", "run", "--file", "foreign.csv")
    assert "first example: <unknown>|<unknown>\n" in answer.err and "had: 1 of 2" in answer.err
    assert "100.0% of the tokens of the given examples are unknown" in seqlab("predict", "run", "zzz").err
    with pytest.warns(SeqlabWarning, match="100.0% of the tokens of the given examples are unknown"):
        api.load("run").predict("zzz")
    with pytest.warns(SeqlabWarning) as warned:
        api.load("run").evaluate("foreign.csv")
    assert any("75.0% of the tokens of the given examples are unknown" in str(one.message) for one in warned)
    Path("foreign.csv").write_text("message,verified\nzzz yyy,a\n")
    answer = seqlab("evaluate", "run", "foreign.csv")
    assert answer.code == 65 and "read from 'verified'" in answer.err
    results = api.load("run").results
    assert results and results.unknown_share == api.evaluate("run").unknown_share
    assert results.unknown_share > 0.1, "each text has a word of its own"


def test_tags_under_their_words(here: Path, seqlab) -> None:
    answer = seqlab("train", "entities.conll", *TINY, "--out", "run", "--set", "task.output_layer=crf")
    assert answer.code == 0 and "the task is tag" in answer.err and "entity F1" in answer.out
    answer = seqlab("predict", "run", "small red fish , n3", "--json")
    (prediction,) = json.loads(answer.out)
    assert prediction["words"] == ["small", "red", "fish", ",", "n3"]
    assert set(prediction["tags"]) <= {"O", "B-x"} and all(0 < chance <= 1 for chance in prediction["probabilities"])
    result = json.loads(seqlab("predict", "run", "--file", "entities.conll", "--json").out)
    assert len(result) == 60 and result[0]["words"][-1] == "n0"
    Path("new.conll").write_text("the old\tB-x\nisn't-it\tO\n\na\n\nb\tO\n", encoding="utf-8")
    answer = seqlab("predict", "run", "--file", "new.conll", "--json")
    result = json.loads(answer.out)
    assert [one.get("words") for one in result] == [["the old", "isn't-it"], None, ["b"]], "not split again"
    assert "1 sentence of new.conll without a text to read (line 4: one column only" in answer.err
    (prediction,) = api.load("run").predict([["the old", "isn't-it"]])
    assert {"line": 1, **prediction.as_dict()} == result[0] and prediction.text == "the old isn't-it"
    with pytest.raises(UsageError, match=r"text 1 is \['a', ' '\]: expected words to tag"):
        api.load("run").predict([["a", " "]])
    above = seqlab("predict", "run", "small red fish").out.splitlines()[0]
    assert above.split() == ["small", "red", "fish"]


def test_translations_with_scores_and_attention(here: Path, seqlab) -> None:
    answer = seqlab("train", "train.en", "train.de", *TINY, "--out", "run", "--vocab-size", "300", "--arch", "gru")
    assert answer.code == 0 and "the task is translate" in answer.err and "dictionary" in answer.out
    assert "gru to gru" in answer.err
    Path("mine.png").write_bytes(b"mine")
    refused = seqlab("predict", "run", "small fish", "--picture", "mine.png")
    assert refused.code == 2 and "'mine.png' exists, and seqlab did not write it: choose another --pict" in refused.err
    answer = seqlab("predict", "run", "small fish", "--n-best", "2", "--attention", "--picture", "look.png")
    assert answer.code == 0 and len(re.findall(r"\(-\d+\.\d\d\)", answer.out)) == 2
    assert Path("look.png").read_bytes().startswith(b"\x89PNG")
    result = json.loads(seqlab("predict", "run", "small fish", "--json").out)[0]
    assert {"translation", "score", "logprob"} <= result.keys() and "weights" not in result


def test_both_sides_may_be_set_apart(here: Path, seqlab) -> None:
    answer = seqlab("train", "train.en", "train.de", *TINY, "--out", "run", "--task", "rewrite", "--vocab-size", "300",
                    "--encoder", "gru", "--decoder", "lstm", "--set", "task.beam=1")  # fmt: skip
    assert answer.code == 0 and "gru to lstm" in answer.err
    settings = api.load("run").settings
    assert settings.task.name == "translate" and settings.decoder is not None and settings.decoder.name == "lstm"


def test_given_parts_are_kept_and_overlap_is_told(here: Path, seqlab) -> None:
    rows = Path("reviews.tsv").read_text(encoding="utf-8").splitlines()
    Path("dev.tsv").write_text("\n".join([rows[0], *rows[1:11], "unseen fish\tcold"]) + "\n", encoding="utf-8")
    Path("test.tsv").write_text("\n".join([rows[0], *rows[1:12]]) + "\n", encoding="utf-8")
    answer = seqlab("train", "reviews.tsv", "--validation", "dev.tsv", "--test", "test.tsv", *TINY, "--out", "run")
    assert answer.code == 0
    assert "10 of the 11 validation inputs (90.9%) are also in the training split" in answer.err
    assert json.loads(seqlab("evaluate", "run", "--split", "test", "--json").out)["examples"] == 11
    answer = seqlab("audit", "run")
    assert answer.code == 1 and "the splits do not overlap" in answer.out


@pytest.mark.parametrize(
    ("name", "content", "code", "words"),
    [
        ("ragged.tsv", "text\tlabel\ngood\tyes\nbad\nbad\n", 65, ["ragged.tsv", "line 3"]),
        ("empty.tsv", "text\tlabel\ngood\tyes\n\t no\n\tno\n", 65, ["empty.tsv", "line 3"]),
        ("nothing.tsv", "", 65, ["nothing.tsv"]),
        ("ragged.conll", "good O\nbad\n\n", 65, ["ragged.conll", "line 2"]),
        ("bad.jsonl", '{"text": "a", "label": "b"}\n{"text": \n{\n', 65, ["bad.jsonl", "line 2"]),
    ],
)
def test_bad_files_are_refused_with_their_line(
    name: str, content: str, code: int, words: list[str], here: Path, seqlab
) -> None:
    Path(name).write_text(content, encoding="utf-8")
    answer = seqlab("train", name, "--task", "tag" if name.endswith("conll") else "classify", *TINY)
    assert answer.code == code and not Path("runs").exists()
    for word in words:
        assert word in answer.err


def test_an_unknown_label_is_named(here: Path, seqlab) -> None:
    Path("dev.tsv").write_text("text\tlabel\nred fish\tlukewarm\n", encoding="utf-8")
    answer = seqlab("train", "reviews.tsv", "--validation", "dev.tsv", *TINY)
    assert answer.code == 65
    for word in ("dev.tsv", "line 2", "lukewarm", "warm", "cold"):
        assert word in answer.err


def test_what_cannot_write_or_predict_says_what_it_can(here: Path, seqlab) -> None:
    assert seqlab("train", "reviews.tsv", *TINY, "--out", "labels").code == 0
    answer = seqlab("generate", "labels")
    assert answer.code == 2 and "seqlab predict" in answer.err
    Path("text.txt").write_text("some words in a row\n" * 50, encoding="utf-8")
    assert seqlab("train", "text.txt", *TINY, "--out", "writer").code == 0
    answer = seqlab("predict", "writer", "some")
    assert answer.code == 2 and "generate" in answer.err
    answer = seqlab("train", "text.txt", *TINY, "--set", "backbone.bidirectional=true")
    assert answer.code == 2 and "cannot be a language model" in answer.err
    assert seqlab("predict", "labels").code == 2


@pytest.mark.parametrize("average_checkpoints", [1, 3])
@pytest.mark.parametrize("name", ["reviews.tsv", "entities.conll", "train.en"])
def test_a_stopped_run_goes_on_to_the_same_bits(name: str, average_checkpoints: int, here: Path) -> None:
    source = [name, "train.de"] if name == "train.en" else name
    own: dict[str, Any] = {
        "hidden": 8,
        "embedding": 8,
        "batch_size": 4,
        "threads": 1,
        "evaluate_every": 2,
        "average_checkpoints": average_checkpoints,
    }
    own |= (
        {"settings": {"task.beam": 1, "task.max_target_length": 9, "tokenizer.vocab_size": 300}}
        if name == "train.en"
        else {}
    )
    api.train(source, out="whole", steps=8, reporter=Reporter(), **own)
    with pytest.raises(KeyboardInterrupt):
        api.train(source, out="halves", steps=8, reporter=Stopping(), **own)
    api.resume("halves", reporter=Reporter())
    for file in ("model.safetensors", "tokenizer.json"):
        assert Path("whole", file).read_bytes() == Path("halves", file).read_bytes()
    assert api.load("whole").results.validation == api.load("halves").results.validation  # pyright: ignore
    last = [checkpoints(Path(run) / "checkpoints")[-1] / "weights.safetensors" for run in ("whole", "halves")]
    assert last[0].read_bytes() == last[1].read_bytes()


def test_averaged_weights_are_the_mean_of_the_last_evaluations(here: Path) -> None:
    import torch
    from safetensors.torch import load_file

    api.train("reviews.tsv", out="run", steps=6, hidden=8, embedding=8, batch_size=4, threads=1, evaluate_every=2,
              average_checkpoints=3, reporter=Reporter(), settings={"train.lr": 0.01})  # fmt: skip
    best = api.load("run").results
    assert best is not None
    steps = [step for step in (2, 4, 6) if step <= best.best_step]
    kept = {
        int(path.name[5:]): load_file(path / "weights.safetensors") for path in checkpoints(Path("run/checkpoints"))
    }
    stored = load_file("run/model.safetensors")
    for name, weight in stored.items():
        torch.testing.assert_close(weight, torch.stack([kept[step][name] for step in steps]).mean(0), atol=1e-6, rtol=0)


def test_a_run_may_have_the_name_of_a_built_in_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seqlab) -> None:
    monkeypatch.chdir(tmp_path)
    small = ("--set", "corpus.difficulty=8", "--steps", "2", "--hidden", "4", "--threads", "1")
    assert seqlab("train", "parity", *small, "--out", "parity").code == 0
    assert seqlab("predict", "parity", "1 0 1").code == 0
    assert seqlab("evaluate", "parity").code == 0


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        (["unnamed.tsv"], 2, "unnamed.tsv has the columns 'one', 'two': expected 'text' and 'label'"),
        (["train.en", "other.de"], 0, "train.en and other.de: read as one running text"),
        (
            ["reviews.tsv", "--validation", "short.tsv", "--set", "task.max_length=3"],
            0,
            "30 training examples, 1 for validation",
        ),
        (
            ["reviews.tsv", "--set", 'corpus.columns=["txt","lbl"]'],
            2,
            "names 'txt' and 'lbl', but the files do not tell the task",
        ),
        (["reviews.tsv", "--set", 'corpus.columns=["text"]'], 2, "corpus.columns: two names are expected"),
        (["reviews.tsv", "--difficulty", "3"], 2, "corpus.difficulty is for generated corpora"),
        (["train.en", "train.de", "--arch", "transformer", "--set", "task.attention=none"], 2, "nothing but attention"),
    ],
)
def test_nothing_is_taken_for_something_else_in_silence(
    command: list[str], code: int, words: str, here: Path, seqlab
) -> None:
    Path("unnamed.tsv").write_text("one\ttwo\n" + "a good old film\t5\n" * 40)
    Path("other.de").write_text(Path("train.de").read_text())
    Path("short.tsv").write_text("text\tlabel\nred\twarm\n")
    answer = seqlab("train", *command, *TINY, "--out", "run")
    assert answer.code == code and words in answer.err, answer.err


def test_a_translation_is_scored_with_its_signature(here: Path, seqlab) -> None:
    assert seqlab("train", "train.en", "train.de", *TINY, "--out", "run").code == 0
    assert json.loads(seqlab("evaluate", "run", "--json").out)["signature"].startswith("nrefs:1|case:mixed")
    assert "BLEU signature (sacrebleu): nrefs:1" in seqlab("evaluate", "run").out
