"""The Python interface: train, load, evaluate, generate, continue, search."""

import inspect
import math
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch

import seqlab
from seqlab import api
from seqlab.errors import DataError, MissingInput, SeqlabWarning, UsageError
from seqlab.training.progress import Reporter

TEXT = "".join(f"the {w} sat on the {v}.\n" for w in ("cat", "dog", "hen", "fox") for v in ("mat", "hut", "sea")) * 30
SMALL = {"hidden": 24, "embedding": 12, "window": 24, "batch_size": 8, "threads": 1, "reporter": Reporter()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("api")
    (folder / "my.txt").write_text(TEXT, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> seqlab.Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        return seqlab.train(folder / "my.txt", arch="gru", steps=150, lr=2e-2, out=folder / "run", **SMALL)


def test_it_learns_and_says_so(run: seqlab.Run) -> None:
    assert run.results is not None
    assert run.results.validation["perplexity"] < 3
    assert [baseline.name.split()[0] for baseline in run.results.baselines] == ["unigram", "kneser-ney", "xz"]
    assert run.results.validation["nats_per_token"] < run.results.baselines[0].metrics["nats_per_token"]


def test_evaluation_equals_what_was_recorded(run: seqlab.Run) -> None:
    assert run.results is not None
    result = run.evaluate()
    assert result.metrics == run.results.validation
    content = result.as_dict()
    assert content["tokens"] == len(TEXT) - len(TEXT) * 9 // 10 - 1
    assert math.isclose(content["bits_per_char"], content["nats_per_token"] / math.log(2))
    assert math.isclose(content["perplexity"], math.exp(content["nats_per_token"]))
    assert len(content["loss_by_position"]) == 24
    assert "as uncertain as a choice among" in content["sentence"]


def test_a_text_that_is_the_held_out_part_scores_the_same(run: seqlab.Run, folder: Path) -> None:
    part = folder / "held.txt"
    part.write_text(TEXT[len(TEXT) * 9 // 10 :], encoding="utf-8")
    assert run.evaluate(part).metrics == run.evaluate().metrics
    assert run.evaluate(split="train").metrics["tokens"] == len(TEXT) * 9 // 10 - 1


def test_unknown_parts_and_contexts_are_refused(run: seqlab.Run) -> None:
    with pytest.raises(UsageError, match="no 'test' split"):
        run.evaluate(split="test")
    with pytest.raises(UsageError, match="window or carry"):
        run.evaluate(mode="all")


@pytest.mark.parametrize("other", ["recipe", "init"])
def test_all_settings_of_a_run_leave_no_room_for_others(run: seqlab.Run, other: str) -> None:
    with pytest.raises(UsageError, match="do not combine"):
        seqlab.train(like=run, **{other: "demo" if other == "recipe" else run})  # pyright: ignore[reportArgumentType]


def test_a_changed_corpus_is_refused(folder: Path) -> None:
    text = folder / "changing.txt"
    text.write_text(TEXT, encoding="utf-8")
    other = seqlab.train(text, steps=2, out=folder / "changing", **SMALL)
    text.write_text(TEXT + "more", encoding="utf-8")
    with pytest.raises(DataError, match="no longer the text"):
        other.evaluate()


def test_a_changed_table_is_trained_on_with_the_task_and_the_columns_of_the_run(folder: Path) -> None:
    table = folder / "changing.csv"
    columns = {"corpus.columns": ["words", "kind"], "corpus.groups": "who"}
    rows = "".join(f"some text {at},{'ab'[at % 2]},{at % 12}\n" for at in range(40))
    table.write_text("words,kind,who\n" + rows, encoding="utf-8")
    run = seqlab.train(table, task="classify", steps=1, out=folder / "table", settings=columns, hidden=8, threads=1)
    table.write_text("words,kind,who\n" + rows + "more,a,1\n", encoding="utf-8")
    with pytest.raises(DataError) as refused:
        run.evaluate()
    start = shlex.split(str(refused.value).partition("on the new one: ")[2])
    assert start[:3] == ["seqlab", "train", str(table)] and start[3:7] == [
        "--init",
        str(run.path),
        "--task",
        "classify",
    ]
    assert start[7:] == ["--set", 'corpus.columns=["words", "kind"]', "--set", "corpus.groups=who"]


def test_a_changed_corpus_is_named_as_seen_from_here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    Path("near.txt").write_text(TEXT, encoding="utf-8")
    seqlab.train("near.txt", steps=2, out="near", **SMALL)
    Path("near.txt").write_text(TEXT + "more", encoding="utf-8")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    with pytest.raises(DataError, match=r"seqlab train (\S+near\.txt) --init") as refused:
        seqlab.load("../near").evaluate()
    assert f"'{folder / 'near.txt'}' is no longer" in str(refused.value)


def test_generation_is_reproducible_and_can_be_continued(run: seqlab.Run) -> None:
    whole = run.generate("the ", 60, temperature=0.8, seed=3)
    assert whole.texts == run.generate("the ", 60, temperature=0.8, seed=3).texts
    assert whole.texts != run.generate("the ", 60, temperature=0.8, seed=4).texts
    first = run.generate("the ", 25, temperature=0.8, seed=3)
    assert run.continue_from(first, 35).texts == whole.texts
    assert "".join(run.stream("the ", 60, temperature=0.8, seed=3)) == str(whole)
    ids = run.tokenizer.encode("the ")
    assert run.generate(ids, 60, temperature=0.8, seed=3).texts == whole.texts
    assert first.state is not None and int(first.state.lengths_B[0]) == len("the ") + 24


def test_encoded_text_is_what_torch_and_the_model_take(run: seqlab.Run) -> None:
    ids_BT = torch.tensor([run.tokenizer.encode("the cat")])
    logits_BTV, _ = run.model(ids_BT)
    assert logits_BTV.shape == (1, len("the cat"), run.tokenizer.vocab_size)


def test_stop_strings(run: seqlab.Run) -> None:
    whole = str(run.generate("the ", 60, temperature=0.8))
    stop = whole[20:23]
    cut = whole[: whole.index(stop)]
    assert str(run.generate("the ", 60, temperature=0.8, stop=[stop])) == cut
    assert "".join(run.stream("the ", 60, temperature=0.8, stop=[stop])) == cut


def test_greedy_is_temperature_zero_and_beam_one(run: seqlab.Run) -> None:
    greedy = str(run.generate("the ", 30, temperature=0))
    assert run.search("the ", 30, width=1)[0].text == greedy
    several = run.search("the ", 30, width=4, n_best=3)
    assert [one.score for one in several] == sorted((one.score for one in several), reverse=True)
    assert several[0].logprob >= run.search("the ", 30, width=1)[0].logprob - 1e-6


def test_unknown_is_never_sampled(run: seqlab.Run) -> None:
    with pytest.warns(seqlab.errors.SeqlabWarning, match="never occur"):
        written = run.generate("the ÄÖ", 200, temperature=5.0)
    assert run.tokenizer.unknown not in written.tokens[0]


def test_sampling_mistakes_are_named(run: seqlab.Run) -> None:
    with pytest.raises(UsageError, match=r"sampling\.temperature"):
        run.generate("the ", temperature=-1)
    with pytest.raises(UsageError, match="did you mean 'top_k'"):
        run.generate("the ", topk=3)


def test_build_gives_logits_and_state() -> None:
    model = seqlab.build("lstm", vocab_size=2000, hidden=256, layers=2)
    logits, state = model(torch.randint(0, 2000, (2, 5)))
    assert logits.shape == (2, 5, 2000)
    assert state.lengths_B.tolist() == [5, 5]
    with pytest.raises(UsageError, match="did you mean 'lstm'"):
        seqlab.build("lsmt", vocab_size=10)


def test_lines_are_written_from_nothing(folder: Path) -> None:
    names = sorted({f"{a}{b}{c}a" for a in "bdfgklm" for b in "aeiou" for c in "lnrs"})
    (folder / "names.txt").write_text("\n".join(names), encoding="utf-8")
    run = seqlab.train(
        folder / "names.txt", arch="gru", documents="lines", steps=120, lr=2e-2, out=folder / "n", **SMALL
    )
    written = run.generate(samples=20, seed=1)
    assert all(0 < len(text) < 12 and "\n" not in text for text in written.texts)
    trained = set(names)
    known = run.known(written.texts)
    assert any(known)
    assert all(text in trained for text, old in zip(written.texts, known, strict=True) if old)
    # of the held-out lines none counts as training text
    held_out = [name for name, old in zip(names, run.known(names), strict=True) if not old]
    assert len(held_out) == len(names) - len(names) * 9 // 10


class Listener(Reporter):
    def __init__(self) -> None:
        self.said: list[str] = []

    def log(self, message: str) -> None:
        self.said.append(message)


def test_init_says_how_much_its_tokenizer_does_not_know(run: seqlab.Run, folder: Path) -> None:
    (folder / "greek.txt").write_text("αβγδ εζηθ\n" * 300, encoding="utf-8")
    short = {key: SMALL[key] for key in ("window", "batch_size", "threads")}
    listener = Listener()
    with pytest.warns(SeqlabWarning, match="in the text that the tokenizer was trained on"):
        seqlab.train(folder / "greek.txt", init=run.path, steps=1, out=folder / "greek", reporter=listener, **short)
    (note,) = [line for line in listener.said if "unknown to the tokenizer of" in line]
    assert note.startswith("warning: 80.0% of the training tokens")
    assert f"'{run.path}', which this run starts from" in note


def test_init_takes_over_tokenizer_and_weights(run: seqlab.Run, folder: Path) -> None:
    (folder / "other.txt").write_text(TEXT.replace("cat", "hat") * 2, encoding="utf-8")
    short = {key: SMALL[key] for key in ("window", "batch_size", "threads", "reporter")}
    tuned = seqlab.train(folder / "other.txt", init=run.path, steps=1, lr=1e-9, out=folder / "tuned", **short)
    assert tuned.settings.backbone == run.settings.backbone
    for (name, a), (_, b) in zip(tuned.model.named_parameters(), run.model.named_parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-6), name
    with pytest.raises(UsageError, match="contradicts"):
        seqlab.train(folder / "other.txt", init=run.path, hidden=99, out=folder / "x", **short)


def test_missing_things(folder: Path) -> None:
    with pytest.raises(MissingInput, match="no run"):
        seqlab.load(folder / "nowhere")
    with pytest.raises(UsageError, match="no text was given"):
        seqlab.train()
    with pytest.raises(UsageError, match="already contains a run"):
        seqlab.train(folder / "my.txt", out=folder / "run", **SMALL)


@pytest.mark.parametrize("tokenizer", ["byte", "word", "bpe"])
def test_every_tokenizer_trains_and_writes(folder: Path, tokenizer: str) -> None:
    settings = {"tokenizer.vocab_size": 280} if tokenizer == "bpe" else {}
    run = seqlab.train(
        folder / "my.txt", tokenizer=tokenizer, steps=30, lr=2e-2, out=folder / tokenizer, settings=settings, **SMALL
    )
    assert str(run.generate("the", 30))
    assert run.evaluate().metrics["bits_per_char"] > 0


def test_the_public_names_are_those_of_the_interface() -> None:
    functions = {name for name in seqlab.__all__ if name.islower() and not name.startswith("_")}
    models = ("train", "load", "resume", "compare", "distill", "quantize", "export", "build", "evaluate")
    assert functions == {*models, "speedrun", "embed", "index", "search", "evaluate_index", "plan"}
    for name in functions:
        assert getattr(seqlab, name) is getattr(api, name)
        assert ">>> " in (getattr(api, name).__doc__ or ""), f"seqlab.{name} shows no example"


@pytest.mark.parametrize("owner", [api, seqlab.Run, seqlab.Comparison], ids=lambda owner: owner.__name__)
def test_everything_public_is_annotated(owner: object) -> None:
    """Parameters and results; Any stands only for the values of settings."""
    for name, function in inspect.getmembers(owner, inspect.isfunction):
        if name.startswith("_") or not function.__module__.startswith("seqlab"):
            continue
        signature = inspect.signature(function)
        assert signature.return_annotation not in (inspect.Signature.empty, Any, "Any"), name
        for parameter in list(signature.parameters.values()):
            if parameter.name == "self" or parameter.kind is parameter.VAR_KEYWORD:
                continue
            assert parameter.annotation not in (parameter.empty, Any, "Any"), f"{name}({parameter.name})"


def test_a_run_is_taken_where_a_path_is(run: seqlab.Run, folder: Path) -> None:
    assert seqlab.load(run) is run
    assert seqlab.evaluate(run).metrics == seqlab.evaluate(run.path).metrics == run.evaluate().metrics
    for wrong in (5, None):
        with pytest.raises(UsageError, match="expected the path"):
            seqlab.load(wrong)  # pyright: ignore[reportArgumentType]
