"""Runs with counts through the public interface: trained, scored, generated from, quantized, compared, audited."""

import re
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import pytest
from small_runs import train_small

import seqlab
from seqlab import api
from seqlab.audit.audit import audit
from seqlab.audit.data import counts as counts_check
from seqlab.baselines.kneser_ney import KneserNey
from seqlab.cli.show import print_run
from seqlab.errors import DataError, UsageError
from seqlab.mixing.gram_table import GramTable
from seqlab.mixing.mixture import MIXTURE_FILE, Mixture
from seqlab.runs import tensors
from seqlab.runs.listing import list_runs
from seqlab.tasks.mixing import training_part
from seqlab.training.request import settings_from_request


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("text") / "topics.txt"
    letters = re.sub(r"[^a-z .,\n]", "", "\n".join(topics.values()).lower())  # each occurs in every split
    file.write_text(letters[:60_000], encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def run(text: Path, tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    return train_small(text, tmp_path_factory.mktemp("runs") / "mixed", mix="counts", steps=20)


def test_a_mixed_run_is_better_than_its_parts_and_says_so(run: api.Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.results is not None
    losses = {one.name: one.metrics["nats_per_token"] for one in run.results.baselines}
    kneser_ney = next(loss for name, loss in losses.items() if name.startswith("kneser-ney"))
    assert run.results.validation["nats_per_token"] < min(kneser_ney, losses["network alone"])
    card = (run.path / "README.md").read_text(encoding="utf-8")
    assert "network alone" in card
    assert card.startswith(f"# {run.settings.backbone.name}+counts on ")
    print_run(run)
    assert f"{run.settings.backbone.name}+counts " in capsys.readouterr().out


def test_a_loaded_run_scores_as_the_trained_one_did(run: api.Run) -> None:
    again = seqlab.load(run.path)
    assert run.results is not None
    assert again.evaluate().metrics == run.results.validation
    carried = again.evaluate(mode="carry").metrics["nats_per_token"]
    assert carried < run.results.validation["nats_per_token"]  # counts read on over the ends of windows, too


@pytest.mark.parametrize("ratios", ["90/10", "80/10/10"])
def test_a_mixture_is_fitted_anew_when_its_run_goes_on(text: Path, tmp_path: Path, ratios: str) -> None:
    """To the network, not to what the former mixture made of it."""
    further = train_small(text, tmp_path / "further", mix="counts", steps=20, split_ratios=ratios)
    for _ in range(2):
        further = seqlab.resume(further, more=2)
        assert further.results is not None
        losses = {one.name: one.metrics["nats_per_token"] for one in further.results.baselines}
        assert further.results.validation["nats_per_token"] < min(nats for name, nats in losses.items() if name != "xz")
        before = further.model.mixture
        further.task().complete(further.model, lambda _: None)
        after = further.model.mixture
        assert before is not None and after is not None
        np.testing.assert_allclose(before.alpha_K, after.alpha_K, atol=1e-4)
        np.testing.assert_allclose(before.beta_K, after.beta_K, atol=1e-4)


def test_counts_that_a_new_run_does_not_take_over_are_said(run: api.Run, text: Path) -> None:
    said: list[str] = []
    settings_from_request(str(text), {}, {}, {}, run.path, said.append)
    assert said == [f"the counts of '{run.path}' are not taken over; --mix counts makes new ones"]
    settings_from_request(str(text), {}, {}, {"mix": "counts"}, run.path, said.append)
    assert len(said) == 1


def test_the_network_is_not_trained_on_what_the_mixture_is_fitted_on(run: api.Run) -> None:
    task = run.task()
    network, held_out = training_part(task.splits)
    assert len(network) + len(held_out) == len(task.splits["train"]) and len(held_out) == 5_000
    assert not list_runs(run.path)[0].fitted_on_validation
    assert task.steps_per_epoch == len(network) / (task.settings.batch_size * task.settings.window)
    whole, first = task.splits["train"], int(network.document_starts()[1])
    stretch = held_out.read(0, 1_000)
    assert len(held_out.document_starts()) - 1 == 5  # all over the text, none at its end
    assert np.array_equal(stretch, whole.read(first, first + 1_000))
    assert np.array_equal(network.read(first, first + 20), whole.read(first + 1_000, first + 1_020))
    assert np.array_equal(network.read(len(network) - 20, len(network)), whole.read(len(whole) - 20, len(whole)))


def test_lines_are_kept_whole_between_network_and_mixture(tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(f"a line with number {number % 97}" for number in range(800)), encoding="utf-8")
    run = train_small(lines, tmp_path / "run", mix="counts", documents="lines")
    network, held_out = training_part(run.task().splits)
    begin, end = run.tokenizer.begin, run.tokenizer.end
    assert network.read(0, 1)[0] == held_out.read(0, 1)[0] == begin
    assert network.read(len(network) - 1, len(network))[0] == end
    assert network.document_starts()[-1] == len(network)
    one_line = network.parts([(0, int(network.document_starts()[1]))])
    with pytest.raises(UsageError, match="too short to be mixed with counts"):
        training_part({"train": one_line})


def test_with_a_test_split_the_mixture_is_fitted_on_validation(text: Path, tmp_path: Path) -> None:
    run = train_small(text, tmp_path / "run", mix="counts", split_ratios="80/10/10")
    splits = run.task().splits
    network, held_out = training_part(splits)
    assert network is splits["train"] and held_out is splits["validation"]
    assert list_runs(tmp_path)[0].fitted_on_validation


def test_both_engines_generate_the_same(run: api.Run) -> None:
    plain, compiled = (str(run.generate("the ", 120, seed=3, engine=engine)) for engine in ("plain", "compiled"))
    assert plain == compiled
    assert run.search("the ", 10, width=3)[0].tokens


def test_the_audit_passes_and_finds_counts_of_held_out_text(run: api.Run, text: Path, tmp_path: Path) -> None:
    checks = {check.name: check.passed for check in audit(run)}
    assert checks[counts_check.name] is True and False not in checks.values()
    leaky = train_small(text, tmp_path / "leaky", mix="counts")
    ids_N = np.array(leaky.tokenizer.encode(text.read_text(encoding="utf-8")))
    table = leaky.model.mixture.table
    everything = GramTable.from_counts(KneserNey.fit(ids_N, table.vocab_size, table.order))
    mixture = Mixture(everything, leaky.model.mixture.alpha_K, leaky.model.mixture.beta_K)
    leaky.directory.write_file(MIXTURE_FILE, tensors.to_bytes(mixture.tensors()))
    checks = {check.name: check.passed for check in audit(seqlab.load(leaky.path))}
    assert checks[counts_check.name] is False


def test_int8_keeps_the_counts_and_other_formats_refuse_them(run: api.Run, tmp_path: Path) -> None:
    quantized = seqlab.load(seqlab.quantize(run.path, tmp_path / "int8").run.path)
    assert run.results is not None
    before, after = (one.evaluate().metrics["nats_per_token"] for one in (run, quantized))
    assert quantized.model.mixture is not None and after == pytest.approx(before, abs=0.02)
    assert str(quantized.generate("the ", 40, engine="compiled"))
    with pytest.raises(UsageError, match="mixed with counts"):
        seqlab.export(run.path, tmp_path / "onnx")


def test_damaged_or_missing_counts_are_said(text: Path, tmp_path: Path) -> None:
    run = train_small(text, tmp_path / "run", mix="counts")
    file = run.path / MIXTURE_FILE
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    with pytest.raises(DataError, match=MIXTURE_FILE):
        seqlab.load(run.path)
    file.unlink()
    with pytest.raises(Exception, match=MIXTURE_FILE):
        seqlab.load(run.path)


def test_a_small_size_prunes_and_says_so(text: Path, tmp_path: Path, seqlab: Callable[..., Any]) -> None:
    small = ("--arch", "gru", "--hidden", "8", "--embedding", "8", "--window", "16", "--steps", "2")
    answer = seqlab("train", str(text), *small, "--mix", "counts", "--mix-size", "0.1", "--out", str(tmp_path / "run"))
    assert answer.code == 0 and "grams of least effect left out, to stay within 0.1 MB (--mix-size)" in answer.err
    assert (tmp_path / "run" / MIXTURE_FILE).stat().st_size < 101_000


def test_options_that_do_nothing_are_refused(text: Path, seqlab: Callable[..., Any]) -> None:
    answer = seqlab("train", str(text), "--mix-size", "3")
    assert answer.code == 2 and "not mixed with counts" in answer.err
    answer = seqlab("train", str(text), "--task", "masked", "--mix", "counts")
    assert answer.code == 2 and "--mix" in answer.err
    answer = seqlab("compare", str(text), "--archs", "lstm+grams")
    assert answer.code == 2 and "lstm+counts" in answer.err


def test_a_comparison_with_an_entrant_that_is_mixed(text: Path, tmp_path: Path, workers_in_process: None) -> None:
    compared = api.compare(
        text, archs="gru,gru+counts", seeds=2, budget="steps=4", tune=0, match="none", out=tmp_path / "c",
        settings={"backbone.hidden": 8, "task.window": 16, "task.batch_size": 4, "train.sample_tokens": 0},
    )  # fmt: skip
    results = compared.results
    mixed, alone = results.entrant("gru+counts"), results.entrant("gru")
    assert results.best.name == "gru+counts"
    assert mixed.flops_per_token > alone.flops_per_token and mixed.parameters == alone.parameters
    assert (mixed.file_bytes or 0) > (alone.file_bytes or 0) + 50_000
    assert results.ledger.unequal["mixed with"]["gru"] == "nothing"
    assert not [advice for advice in results.recommendation if advice.lens == "counts"]


def test_a_comparison_says_what_counts_would_add(text: Path, tmp_path: Path, workers_in_process: None) -> None:
    compared = api.compare(
        text, archs="gru,rnn", seeds=1, budget="steps=4", tune=0, match="none", out=tmp_path / "c",
        settings={"backbone.hidden": 8, "task.window": 16, "task.batch_size": 4, "train.sample_tokens": 0},
    )  # fmt: skip
    sentence = next(advice.sentence for advice in compared.results.recommendation if advice.lens == "counts")
    assert "would be better by" in sentence and "+counts" in sentence
    assert sentence in (tmp_path / "c" / "report.html").read_text(encoding="utf-8").replace("&#39;", "'")
