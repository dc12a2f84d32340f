"""Taggers and translators: what a reading says goes in and comes out, and the views that show it."""

import math
from typing import Any

import pytest
import torch
from inspected_runs import UntrainedRun, untrained

from seqlab.contracts import Trace
from seqlab.decode.translation import attention_weights, batch_sources
from seqlab.errors import UsageError
from seqlab.inspection.distances import exact
from seqlab.inspection.inspection import inspect
from seqlab.inspection.looking_back import reading_divergences, reading_norms
from seqlab.inspection.reading import read_text
from seqlab.inspection.sheet import Sheet
from seqlab.registry import TASKS
from seqlab.tasks.examples import encode_all

pytestmark = pytest.mark.filterwarnings("ignore:.*encoded as the unknown token")  # taggers know few words

SOURCE = "The cat sat"
WORDS = "The cat ran on the mat."


def view(name: str, run: UntrainedRun, text: str, target: str | None = None, **options: Any) -> Sheet:
    return inspect([run], text, name, options, target).sheets[0]


def predicted(run: UntrainedRun, text: str) -> Any:
    return TASKS.load(run.settings.task.name).predict(run.model, [text], run.vocabulary, run.settings)[0]


def test_every_task_of_this_package_is_read() -> None:
    unread = [name for name in TASKS.builtin() if TASKS.load(name).reading is None]
    assert unread == ["embed"]  # a vector answers no question that a view could ask


# --- translators ----------------------------------------------------------------------------------------------------


TRANSLATORS: dict[str, dict[str, Any]] = {
    "bottleneck": {"arch": "gru", "attention": "none"},
    "dot": {"arch": "rnn", "attention": "dot"},
    "scaled": {"arch": "lstm", "attention": "scaled"},
    "additive": {"arch": "gru", "attention": "additive"},
    "before": {"arch": "lstm", "attention": "additive", "attends": "before"},
    "transformer": {"arch": "transformer"},
}


@pytest.fixture(params=list(TRANSLATORS))
def translator(request: pytest.FixtureRequest) -> UntrainedRun:
    return untrained(task="translate", **TRANSLATORS[request.param])


def test_a_translator_is_read_with_its_own_translation(translator: UntrainedRun) -> None:
    reading = read_text(translator, SOURCE)
    begin = translator.vocabulary.target_tokenizer.begin  # pyright: ignore[reportOptionalMemberAccess]
    assert [side.name for side in reading.sides] == ["source", "target"]
    assert reading.sides[0].tokens == [*"·The·cat·sat"]
    assert reading.ids == (begin, *list(reading.answers)[:-1])
    pieces = view("surprise", translator, SOURCE).data["pieces"]
    bits = sum(piece["bits"][0] for piece in pieces)
    assert -bits * math.log(2) == pytest.approx(predicted(translator, SOURCE).logprob, rel=1e-4)


def test_a_given_target_costs_what_teacher_forcing_says(translator: UntrainedRun) -> None:
    target = translator.vocabulary.target_tokenizer
    assert target is not None and target.begin is not None and target.end is not None
    ids = [target.begin, *encode_all(target, ["THE MAT"])[0].tolist(), target.end]
    source = batch_sources(encode_all(translator.tokenizer, [SOURCE]), translator.model)
    with torch.no_grad():
        logprobs_TV = translator.model(source, torch.tensor([ids[:-1]]))[0].log_softmax(1)
    expected = [-float(logprobs_TV[t, token]) / math.log(2) for t, token in enumerate(ids[1:])]
    pieces = view("surprise", translator, SOURCE, "THE MAT").data["pieces"]
    assert [piece["bits"][0] for piece in pieces] == pytest.approx(expected, rel=1e-4)
    assert [piece["text"] for piece in pieces] == [*"·THE·MAT", "<end>"]


@pytest.mark.parametrize("arch", ["gru", "transformer"])
def test_alignment_has_a_row_for_every_target_token(arch: str) -> None:
    run = untrained(arch, "translate")
    reading = read_text(run, SOURCE)
    weights = attention_weights(run.model, encode_all(run.tokenizer, [SOURCE])[0], reading.answers, run.vocabulary)
    sheets = inspect([run], SOURCE, "attention", {}).sheets
    maps = sheets[0].maps
    assert maps is not None
    assert maps.rows == list(reading.places) and maps.columns == reading.sides[0].tokens
    last = torch.stack([head.weights_TS for head in maps.layers[-1]]).mean(0)
    torch.testing.assert_close(last, torch.tensor(weights["weights"]))
    wheres = ["from the target to the source"]
    wheres += ["within the target", "within the source"] if arch == "transformer" else []
    assert [sheet.data["where"] for sheet in sheets] == wheres
    assert len({sheet.name for sheet in sheets}) == len(sheets)
    names = [name for sheet in sheets for name in sheet.data["heads"]]
    assert len(names) == len(set(names)) == (12 * 2 if arch == "transformer" else 1)
    if arch == "transformer":
        assert "encoder.layer1.attention head 1" in names and "layer2.source head 4" in names


def test_gates_of_both_sides_have_a_sheet_each() -> None:
    run = untrained("gru", "translate")
    trace = read_text(run, SOURCE).trace
    target, source = inspect([run], SOURCE, "gates", {"layer": 2, "unit": 3}).sheets
    assert (target.name, source.name) == ("gates", "gates-source")
    assert target.data["gates"]["layer2.reset"] == pytest.approx(trace["layer2.reset"][0, :, 2].tolist())
    values = source.data["gates"]["encoder.layer2.backward.reset"]
    assert values == pytest.approx(trace["encoder.layer2.backward.reset"][0, :, 2].tolist())
    assert len(values) == len(source.columns) == len("·The·cat·sat")


@pytest.mark.parametrize("position", [1, 3])
def test_a_step_of_a_decoder_begins_with_what_it_got_from_the_source(translator: UntrainedRun, position: int) -> None:
    reading = read_text(translator, SOURCE)
    sheet = view("step", translator, SOURCE, position=position, layer=1, unit=2)
    if "transformer" in reading.arch:
        weights_S = reading.trace["layer1.source.weights"][0, position - 1, 0]
        keys = sheet.blocks[-1]
        assert keys.title.startswith(f"layer1.source, head 1 of 4: token {position} looks at in the source")
    else:
        shown = sheet.blocks[0].rows[-1][-1]
        expected = float(reading.trace["layer1.hidden"][0, position - 1, 1])
        assert shown == f"{expected:z.3f}".replace("-", "−")
        if "source.weights" not in reading.trace:
            return
        weights_S, keys = reading.trace["source.weights"][0, position - 1, 0], sheet.blocks[-1]
    assert [int(row[1]) - 1 for row in keys.rows[1:]] == weights_S.argsort(descending=True)[:10].tolist()


def test_a_part_of_the_encoder_can_be_left_out() -> None:
    run = untrained("gru", "translate")
    found = view("ablate", run, SOURCE, how="zero").data
    reading, name = read_text(run, SOURCE), "encoder.layer2.forward.update"
    logprobs_PV = reading.logprobs(Trace({name: torch.zeros(1, 1, 1)}))
    bits = -float(logprobs_PV[range(len(reading.answers)), list(reading.answers)].mean()) / math.log(2)
    assert found["change"][name] == pytest.approx(bits - found["bits_per_token"], abs=1e-4)
    assert not {"embedding", "encoder.embedding"} & set(found["change"])


def test_the_lens_of_a_translator_looks_at_the_decoder() -> None:
    run = untrained("gru", "translate")
    found = view("lens", run, SOURCE).data
    assert found["layers"] == ["layer1", "layer2"]
    assert found["bits_per_token"][-1:] == pytest.approx(view("surprise", run, SOURCE).data["bits_per_token"], rel=1e-5)


def test_attribution_of_a_target_token_names_the_source() -> None:
    run = untrained("gru", "translate")
    place = read_text(run, SOURCE).places[1]
    sheet = view("attribution", run, SOURCE, position=2)
    assert sheet.sentence.startswith(f"log-probability of token 2 of the target, “{place}”: the source makes")
    assert sheet.data["tokens"] == [*"·The·cat·sat"]


def test_a_translation_that_is_cut_off_says_so() -> None:
    assert "cut off after 9 tokens" in inspect([untrained("gru", "translate")], SOURCE, "surprise", {}).title


# --- taggers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"output_layer": "crf"}, {"tokenizer": "char"}, {"char_encoder": "none"}], ids=str
)
def test_a_tagger_shows_the_probability_of_its_tags(options: dict[str, Any]) -> None:
    run = tagger(**options)
    expected = predicted(run, WORDS)
    sheet = view("surprise", run, WORDS)
    pieces = sheet.data["pieces"]
    assert [piece["text"].removeprefix("·") for piece in pieces] == expected.words and sheet.lanes == ["tag"]
    assert [piece["answer"] for piece in pieces] == expected.tags
    shares = [2 ** -piece["bits"][0] for piece in pieces]
    assert shares == pytest.approx(expected.probabilities, rel=1e-4)
    assert all(sum(piece["likeliest"][0].values()) == pytest.approx(1, abs=1e-4) for piece in pieces)
    given = view("surprise", run, WORDS, " ".join(["N"] * len(pieces))).data["pieces"]
    assert all(piece["likeliest"][0]["N"] == pytest.approx(2 ** -piece["bits"][0], rel=1e-4) for piece in given)


def tagger(**options: Any) -> UntrainedRun:
    return untrained("gru", "tag", **options)


def test_attribution_of_a_tag_names_the_words() -> None:
    sheet = view("attribution", tagger(), WORDS, position=3)
    tag = predicted(tagger(), WORDS).tags[2]
    assert sheet.sentence.startswith(f"log-probability of the tag '{tag}' of word 3, “ran”")
    assert sheet.data["tokens"] == ["The", "·cat", "·ran", "·on", "·the", "·mat", "."]
    assert sum(sheet.data["integrated_gradients"]) == pytest.approx(sheet.data["difference"], abs=0.02)


@pytest.mark.parametrize("tokenizer", ["word", "char"])
def test_tokens_of_a_tagger_have_a_place_in_the_text(tokenizer: str) -> None:
    reading = read_text(tagger(tokenizer=tokenizer), "The  cat.")
    ends = [2, 7, 8] if tokenizer == "word" else [2] * 4 + [7] * 4 + [8] * 2
    assert reading.last_characters == ends


# --- looking back ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("task", "text"), [("classify", "The cat"), ("tag", WORDS), ("translate", SOURCE)])
def test_gradients_of_every_task_are_finite_differences(task: str, text: str) -> None:
    run = untrained("gru", task)
    reading = read_text(run, text)
    found = reading_norms(reading)
    reading = reading.with_model(exact(run.model))
    reading.logprobs(trace := Trace())
    x_1TD, step = trace["embedding"], 1e-6

    def loss(place: int, s: int, d: int, by: float) -> float:
        moved = x_1TD.clone()
        moved[0, s, d] += by
        return -float(reading.logprobs(Trace({"embedding": moved}))[place, reading.answers[place]])

    def norm(place: int, s: int) -> float:
        slopes = [(loss(place, s, d, step) - loss(place, s, d, -step)) / (2 * step) for d in range(x_1TD.shape[2])]
        return math.hypot(*slopes)

    longest = len(found) - 1
    assert longest == {"classify": len(reading.ids) - 1}.get(task, (len(reading.ids) - 1) // 2)
    back = [place for place, after in enumerate(reading.after) if after >= longest]
    for k in (0, longest):
        assert found[k] == pytest.approx(sum(norm(p, reading.after[p] - k) for p in back) / len(back), rel=1e-4)


def test_a_label_changes_with_a_token_far_from_the_end() -> None:
    run = untrained("gru", "classify")
    reading = read_text(run, "The cat")
    found, ids = reading_divergences(reading), list(reading.ids)
    with torch.no_grad():
        before_K = run.model(torch.tensor([ids]))[0].log_softmax(0)
        for k in (0, 3, 7):
            s = len(ids) - 1 - k
            other = next(token for token in (ids * 2)[len(ids) // 2 + s :] + ids if token != ids[s])
            after_K = run.model(torch.tensor([[*ids[:s], other, *ids[s + 1 :]]]))[0].log_softmax(0)
            bits = float((before_K.exp() * (before_K - after_K)).sum()) / math.log(2)
            assert found[k] == pytest.approx(bits, rel=1e-3, abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"tokenizer": "char"}], ids=str)
def test_a_tagger_with_a_window_forgets_what_has_left_it(options: dict[str, Any]) -> None:
    run = untrained("feedforward", "tag", span=3, **options)
    bits_K = reading_divergences(read_text(run, "The cat sat on the mat The dog said"))
    assert (bits_K[:3] > 1e-9).all() and (bits_K[3:] < 1e-12).all() and len(bits_K) > 4


def test_a_text_of_one_word_has_nothing_to_change_into() -> None:
    with pytest.raises(UsageError, match="all tokens of the text are alike"):
        reading_divergences(read_text(tagger(), "the the the the"))


# --- targets --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "target", "message"),
    [
        ("tag", "N V", r"the target has 2 tags for 3 words \(The cat sat\): expected a tag for each word"),
        ("tag", "N V Q", "there is no tag 'Q': the model has D, N, P, V"),
        ("classify", "hot", "there is no label 'hot': the model has cold, warm"),
        ("translate", " ", "the target is empty: expected a translation of the text"),
        ("language", "x", "a target does nothing for a language model"),
    ],
)
def test_targets_that_do_not_fit_are_refused(task: str, target: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_text(untrained("gru", task), SOURCE, target)


def test_a_classifier_explains_the_label_that_is_given() -> None:
    run = untrained("gru", "classify")
    for label in ("cold", "warm"):
        assert f"the label '{label}'" in view("attribution", run, SOURCE, label).sentence


@pytest.mark.parametrize("task", ["classify", "tag", "translate"])
def test_a_text_without_words_is_refused(task: str) -> None:
    for text in ("", " \n"):
        with pytest.raises(UsageError, match=r"the (text|source) is empty: give some words to look at\."):
            read_text(untrained("gru", task), text)


def test_two_runs_are_compared_on_one_target() -> None:
    runs = [untrained("gru", "translate"), untrained("lstm", "translate")]
    with pytest.raises(UsageError, match="each run would be scored by its own tokens: give a translation"):
        inspect(runs, SOURCE, "surprise", {})
    pieces = inspect(runs, SOURCE, "surprise", {}, "THE MAT").sheets[0].data["pieces"]
    alone = view("surprise", runs[1], SOURCE, "THE MAT").data["pieces"]
    assert [piece["bits"][1] for piece in pieces] == pytest.approx([piece["bits"][0] for piece in alone])
    with pytest.raises(UsageError, match="each run would read its own target: give a translation"):
        inspect(runs, SOURCE, "memory", {})
    assert set(inspect(runs, SOURCE, "memory", {}, "THE MAT").sheets[0].data["bits"]) == {"gru", "lstm"}
    with pytest.raises(UsageError, match="memory compares models of one task"):
        inspect([runs[0], untrained("gru", "tag")], "The cat sat on", "memory", {}, "N N N N")
    with pytest.raises(UsageError, match="predict different things"):
        inspect([runs[0], untrained("gru", "tag")], SOURCE, "surprise", {}, "N N N")
