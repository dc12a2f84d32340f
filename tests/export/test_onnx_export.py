"""A run that has left: its files, run by a program that knows nothing of seqlab, go on with a text as the run does."""

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from example_files import write_all
from hypothesis import example, given, settings
from hypothesis import strategies as st

from seqlab import api
from seqlab.errors import SeqlabWarning, UsageError
from seqlab.exporters.onnx.graph import Graph
from seqlab.exporters.tokenizer import to_tokenizers
from seqlab.registry import TOKENIZERS
from seqlab.tokenization.tokenizer import Tokenizer
from seqlab.tokenization.word import WordSettings, WordTokenizer

TEXT = "".join(f"The {w} sat on the {v}; “so?”\n" for w in ("cat", "dog", "hen") for v in ("mat", "hut", "sea")) * 30
SMALL: dict[str, Any] = {"hidden": 32, "embedding": 16, "batch_size": 8, "window": 16, "threads": 1, "sample_tokens": 0}


def trained(folder: Path, arch: str, **more: Any) -> Path:
    (folder / "my.txt").write_text(TEXT, encoding="utf-8")
    options = {"task": "language", **SMALL, **more}
    return api.train(folder / "my.txt", arch=arch, steps=60, out=folder / "run", **options).path


@pytest.mark.parametrize(
    ("arch", "more"),
    [
        ("lstm", {}),
        ("lstm", {"documents": "lines"}),
        ("gru", {"tokenizer": "word"}),
        ("rnn", {"tokenizer": "byte"}),
        ("transformer", {"tokenizer": "bpe", "vocab_size": 300}),
    ],
)
def test_the_example_goes_on_as_the_run_does(arch: str, more: dict[str, Any], tmp_path: Path) -> None:
    run = trained(tmp_path, arch, **more)
    api.export(run, tmp_path / "left")
    program = (tmp_path / "left/example.py").read_text()
    assert "seqlab" not in program and "torch" not in program
    assert sum(1 for line in program.splitlines() if line and not line.startswith(('"""', "import", "from"))) <= 20
    command = [sys.executable, str(tmp_path / "left/example.py"), "The cat", "60"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    expected = "The cat" + str(api.load(run).generate("The cat", 60, temperature=0))
    assert done.stdout == expected + "\n"


def test_the_example_refuses_an_empty_prompt(tmp_path: Path) -> None:
    api.export(trained(tmp_path, "rnn"), tmp_path / "left")
    command = [sys.executable, str(tmp_path / "left/example.py"), "", "9"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == "The prompt is empty: give the beginning of a text.\n"


def test_what_cannot_be_exported_is_refused_by_name(tmp_path: Path) -> None:
    run = trained(tmp_path, "rnn")
    with pytest.raises(UsageError, match="'gguf'"):
        api.export(run, tmp_path / "left", format="gguf")  # pyright: ignore[reportArgumentType]
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").write_text("years")
    with pytest.raises(UsageError, match="is not empty"):
        api.export(run, tmp_path / "full")


def test_a_graph_that_computes_something_else_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = trained(tmp_path, "rnn")
    plain = Graph.affine
    monkeypatch.setattr(Graph, "affine", lambda self, x, w, b: plain(self, x, w * 1.01, b))
    with pytest.raises(Exception, match="are wrong by"):
        api.export(run, tmp_path / "left")
    assert not (tmp_path / "left").exists()


def trained_tokenizer(name: str) -> Tokenizer:
    tokenizer_type = TOKENIZERS.load(name)
    return tokenizer_type.train([TEXT, "Ünïcödé 123 — it's"], TOKENIZERS.settings(name)())


TRAINED_TOKENIZERS = {name: trained_tokenizer(name) for name in TOKENIZERS}


@pytest.mark.parametrize("name", list(TOKENIZERS))
@given(text=st.text(alphabet=st.sampled_from(sorted(set(TEXT + "Ünïcödé 123 — it's\t\r_"))), max_size=60))
@settings(max_examples=100)
def test_the_library_reads_a_text_as_our_tokenizer_does(name: str, text: str) -> None:
    exported = to_tokenizers(TRAINED_TOKENIZERS[name])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*encoded as the unknown token", SeqlabWarning)
        ours = TRAINED_TOKENIZERS[name].encode(text)
    assert exported.encode(text, add_special_tokens=False).ids == ours
    if TRAINED_TOKENIZERS[name].unknown not in ours:
        assert exported.decode(ours) == TRAINED_TOKENIZERS[name].decode(np.array(ours, np.int64))


SCIENCE = "Add ½ cup: 20 m² of H₂O, note① ΟΔΟΣ ΣΑΣ ‿ x\x1cy don’t नमस्ते"


@pytest.mark.filterwarnings("ignore:.*encoded as the unknown token:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("lowercase", [False, True])
@given(text=st.text(st.sampled_from(SCIENCE) | st.characters(exclude_categories=["Cs"]), max_size=40))
@example(text=SCIENCE)
def test_words_are_made_of_the_same_characters(lowercase: bool, text: str) -> None:
    tokenizer = WordTokenizer.train([SCIENCE], WordSettings(lowercase=lowercase))
    assert to_tokenizers(tokenizer).encode(text, add_special_tokens=False).ids == tokenizer.encode(text)


def example_output(folder: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, "left/example.py", *words], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


EXAMPLES = {"classify": ["reviews.tsv"], "tag": ["entities.conll"], "translate": ["train.en", "train.de"]}


@pytest.mark.filterwarnings("ignore:.* of the given examples are unknown to the tokenizer:seqlab.errors.SeqlabWarning")
@pytest.mark.filterwarnings("ignore:1 of 1 translations were cut off:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize(
    ("task", "arch", "more"),
    [
        ("classify", "lstm", {}),
        ("classify", "transformer", {"task.pooling": "attention"}),
        ("tag", "gru", {"task.output_layer": "crf"}),
        ("tag", "lstm", {"task.char_encoder": "lstm"}),
        ("tag", "rnn", {"tokenizer.name": "bpe", "tokenizer.vocab_size": 300}),
        ("translate", "lstm", {"tokenizer.vocab_size": 300, "task.beam": 1}),
        ("translate", "transformer", {"tokenizer.vocab_size": 300, "task.beam": 1, "task.shared_vocabulary": False}),
        ("translate", "gru", {"tokenizer.vocab_size": 300, "task.beam": 1, "task.attends": "before"}),
    ],
)
def test_examples_of_other_tasks(
    task: str, arch: str, more: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_all(tmp_path)
    small: dict[str, Any] = {
        "hidden": 24,
        "embedding": 16,
        "batch_size": 8,
        "threads": 1,
        "steps": 60,
        "sample_tokens": 0,
    }
    settings = {**more, **({"backbone.heads": 2, "backbone.layers": 2} if arch == "transformer" else {})}
    run = api.train(EXAMPLES[task], task=task, arch=arch, out=tmp_path / "run", settings=settings, **small)
    api.export(run.path, tmp_path / "left")
    text = "the red fox saw the old dog"
    prediction: Any = run.predict([text])[0]
    match task:
        case "classify":
            label, probability = example_output(tmp_path, text).split()
            assert label == prediction.label and float(probability) == pytest.approx(
                prediction.probabilities[label], abs=2e-4
            )
        case "tag":
            expected = [f"{word}/{tag}" for word, tag in zip(prediction.words, prediction.tags, strict=True)]
            assert example_output(tmp_path, *prediction.words).split() == expected
        case "translate":
            assert example_output(tmp_path, text) == prediction.translation


def test_a_gap_is_filled(tmp_path: Path) -> None:
    run = trained(tmp_path, "transformer-encoder", task="masked")
    api.export(run, tmp_path / "left")
    assert len(example_output(tmp_path, "The c", "t sat").splitlines()) == 5


def test_int8_weights_leave_as_float32_which_is_said_with_both_sizes(tmp_path: Path) -> None:
    trained(tmp_path, "gru", hidden=96)
    api.quantize(tmp_path / "run", tmp_path / "small")
    own, file = (tmp_path / "small/model.safetensors").stat().st_size, tmp_path / "left/step.onnx"
    with pytest.warns(SeqlabWarning) as said:
        api.export(tmp_path / "small", tmp_path / "left")
    [note] = [str(one.message) for one in said if "int8" in str(one.message)]
    assert f"({own:,} bytes) are exported as float32: {file} {file.stat().st_size:,} bytes" in note
    assert file.stat().st_size > 2 * own
