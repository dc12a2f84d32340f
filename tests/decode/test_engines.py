"""Every engine against the plain path: logits, texts, and that neither neighbours nor parts nor threads change them."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_cases import small_mixture

from seqlab.backbones.recurrent import Lstm
from seqlab.config import VocabSizes, build_settings
from seqlab.decode.beam import beam_search
from seqlab.decode.engines.compiled import CompiledEngine
from seqlab.decode.engines.selection import EngineSelector
from seqlab.decode.generate import begin, continue_from, generate, stream
from seqlab.decode.rules import DecodingRules
from seqlab.decode.sampling import SamplingSettings, sample
from seqlab.errors import DataError, UsageError
from seqlab.kernels.uniform import uniforms
from seqlab.registry import BACKBONES
from seqlab.runs.load import build_model

V = 61
VARIANTS: dict[str, list[dict[str, Any]]] = {
    "rnn": [{}, {"layers": 3, "residual": True}, {"activation": "relu"}, {"activation": "sigmoid"}],
    "gru": [{}, {"layers": 3, "residual": True}, {"reset": "before", "layers": 2}],
    "lstm": [{}, {"layers": 3, "residual": True}],
    "lstm-attention": [
        {},
        {"score": "dot", "combine": "add", "layers": 2},
        {"score": "scaled", "combine": "context", "context": 7},
        {"context": 5},
    ],
    "transformer": [
        {},
        {"context": 9},
        {"positions": "learned", "context": 12, "norm": "rms", "activation": "swiglu"},
        {"positions": "sinusoidal", "activation": "relu", "norm_position": "after"},
        {"positions": "none", "scale_input": True, "context": 20},
        {"qk_norm": True, "activation": "relu2", "context": 9},
    ],
}
ENGINES = [name for name in BACKBONES if BACKBONES.load(name).declares("compiled_engine")]
CASES = [(name, variant) for name in ENGINES for variant in VARIANTS.get(name, [{}])]
CASES += [(name, {"mix": "counts"}) for name in ("lstm", "transformer")]  # counts are the same for all engines
NEAR = 1e-4  # of a draw to a boundary between two tokens
PROMPTS = [[1, 2, 3], [5], list(range(30)), [7, 8], [9] * 12, [3, 1]]


def built(backbone: dict[str, Any], tie_embeddings: bool = False) -> Any:
    changes = [("model.embedding", 24), ("model.tie_embeddings", tie_embeddings)]
    changes += [(f"backbone.{key}", value) for key, value in backbone.items()]
    return build_model(build_settings({"corpus": {"source": ["none"]}}, changes), VocabSizes(V, V, 256, 2)).eval()


def selector(
    name: str, variant: dict[str, Any] | None = None, tie_embeddings: bool = False, hidden: int = 40
) -> EngineSelector:
    torch.manual_seed(0)
    variant = dict(variant or {})
    mix = variant.pop("mix", None)
    chosen = {
        "name": name,
        "hidden": hidden,
        **({"heads": 2, "layers": 2} if name == "transformer" else {}),
        **variant,
    }
    changes = [
        ("model.embedding", 24),
        ("model.tie_embeddings", tie_embeddings),
        *((f"backbone.{key}", value) for key, value in chosen.items()),
    ]
    model = build_model(build_settings({"corpus": {"source": ["none"]}}, changes), VocabSizes(V, V, 256, 2)).eval()
    with torch.no_grad():
        model.output.weight.mul_(6)  # so that it is sure of something
    model.mixture = small_mixture(V) if mix else None
    return EngineSelector(model)


FREE = {name: selector(name, hidden=32) for name in ENGINES}


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{'-'.join(map(str, case[1].values()))}")
def both(request: pytest.FixtureRequest) -> EngineSelector:
    return selector(*request.param)


def test_logits_after_a_forced_text(both: EngineSelector) -> None:
    draw = np.random.default_rng(1)
    limit = both.model.limit
    lengths_B = torch.tensor([12, 1, 7, 3] if limit else [70, 1, 33, 5])
    tokens_BT = torch.from_numpy(draw.integers(0, V, (4, int(lengths_B.max()))))
    with torch.inference_mode():
        plain_BV, plain = both.model.read(tokens_BT, lengths_B)
        ours_BV, ours = both.engine.read(tokens_BT, lengths_B)
        assert torch.equal(ours.lengths_B, plain.lengths_B)
        for _ in range(0 if limit else 20):
            torch.testing.assert_close(ours_BV, plain_BV, atol=1e-4, rtol=0)
            token_B = torch.from_numpy(draw.integers(0, V, 4))
            before = ours
            plain_BV, plain = both.model.step(token_B, plain)
            ours_BV, ours = both.engine.step(token_B, ours)
            again_BV, _ = both.engine.step(token_B, before)
            assert torch.equal(again_BV, ours_BV), "the state that was given has changed"
    torch.testing.assert_close(ours_BV, plain_BV, atol=1e-4, rtol=0)


def test_texts_are_those_of_the_plain_path(both: EngineSelector) -> None:
    rules = DecodingRules(end=4, banned=(0, 17))
    for sampling in (SamplingSettings(seed=3), SamplingSettings(temperature=0), SamplingSettings(top_k=9, top_p=0.8)):
        plain = generate(both.model, PROMPTS, 60, sampling, rules=rules)
        ours = generate(both.engine, PROMPTS, 60, sampling, rules=rules)
        assert ours.tokens == plain.tokens and ours.finished == plain.finished and ours.seen == plain.seen
        for actual, expected in zip(ours.logprobs, plain.logprobs, strict=True):
            np.testing.assert_allclose(actual, expected, atol=1e-4)


def test_neighbours_parts_and_threads_change_nothing(both: EngineSelector) -> None:
    sampling = SamplingSettings(seed=5, repetition_penalty=1.2)
    many = [PROMPTS[i % len(PROMPTS)] for i in range(21)]
    whole = generate(both.engine, many, 40, sampling)
    for row in (0, 7, 20):
        alone = generate(both.engine, [many[row]], 40, sampling, first_sequence=row)
        assert (alone.tokens, alone.logprobs) == ([whole.tokens[row]], [whole.logprobs[row]])
    parts = generate(both.engine, many, 13, sampling)
    kept = [list(tokens) for tokens in parts.tokens]
    for _ in range(2):
        assert continue_from(both.engine, parts, 27).tokens == whole.tokens
    assert parts.tokens == kept
    try:
        torch.set_num_threads(2)
        assert generate(both.engine, many, 40, sampling).logprobs == whole.logprobs
    finally:
        torch.set_num_threads(1)


def test_a_beam_finds_the_same(both: EngineSelector) -> None:
    rules = DecodingRules(end=4)
    for plain, ours in zip(
        *(beam_search(model, [1, 2], 4, 15, n_best=3, rules=rules) for model in (both.model, both.engine)),
        strict=True,
    ):
        assert ours.tokens == plain.tokens and ours.logprob == pytest.approx(plain.logprob, abs=1e-4)


@pytest.mark.parametrize("name", ENGINES)
def test_a_stream_is_a_few_tokens_behind_at_most_and_can_be_left(name: str) -> None:
    engine = selector(name).engine
    generation = begin([[1, 2]], SamplingSettings(seed=2))
    heard = []
    for step in stream(engine, generation, 50):
        heard.append(step[0])
        assert heard == generation.tokens[0][: len(heard)] and len(generation.tokens[0]) < len(heard) + 4
        if len(heard) == 10:
            break
    assert (
        continue_from(engine, generation, 50 - len(generation.tokens[0])).tokens
        == generate(engine, [[1, 2]], 50, SamplingSettings(seed=2)).tokens
    )


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("tie_embeddings", [False, True])
def test_tied_outputs_and_odd_sizes(name: str, tie_embeddings: bool) -> None:
    for hidden in (4, 68, 132):
        both = selector(name, tie_embeddings=tie_embeddings, hidden=hidden)
        plain, ours = (generate(model, PROMPTS, 20, SamplingSettings(seed=1)) for model in (both.model, both.engine))
        assert ours.tokens == plain.tokens


@pytest.mark.parametrize("name", ENGINES)
def test_stop_is_asked_after_every_token(name: str) -> None:
    both: Any = selector(name)
    rules = DecodingRules(stop=lambda row, tokens: len(tokens) == 5 + row)
    for model in (both.model, both.engine):
        written = generate(model, PROMPTS, 40, SamplingSettings(seed=9), rules=rules)
        assert [len(tokens) for tokens in written.tokens] == [5, 6, 7, 8, 9, 10] and all(written.finished)


@pytest.mark.parametrize("name", ENGINES)
def test_damaged_weights_and_nothing_to_choose_are_said(name: str) -> None:
    both: Any = selector(name)
    with pytest.raises(UsageError, match="every token is banned"):
        generate(both.engine, [[1]], 5, rules=DecodingRules(banned=range(V)))
    with torch.no_grad():
        next(both.model.backbone.parameters()).view(-1)[0] = float("nan")
    damaged = EngineSelector(both.model)
    with pytest.raises(DataError, match="not finite"):
        generate(damaged.engine, [[0] * 3], 5)


@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=25)
@given(
    text=st.lists(st.integers(0, V - 1), min_size=1, max_size=50),
    temperature=st.sampled_from([0.0, 0.3, 1.0, 2.0]),
    top_k=st.none() | st.integers(1, 2 * V),
    top_p=st.none() | st.floats(0.01, 1.0),
    penalty=st.sampled_from([1.0, 0.7, 1.5]),
    seed=st.integers(0, 2**63 - 1),
    sequence=st.integers(0, 2**40),
)
def test_the_same_draw_after_the_same_text(
    name: str, text: list[int], temperature: float, top_k: int | None, top_p: float | None, penalty: float, seed: int,
    sequence: int,
) -> None:  # fmt: skip
    """Both paths read one text. Where their choices differ, the draw was within `NEAR` of where they meet."""
    both: Any = FREE[name]
    sampling = SamplingSettings(
        temperature=temperature, top_k=top_k, top_p=top_p, repetition_penalty=penalty, seed=seed
    )
    with torch.inference_mode():
        plain_TV = both.model(torch.tensor([text]))[0][0].double().numpy()
    begun = begin([text[:1]], sampling, first_sequence=sequence)
    for t in range(len(text)):
        ours = next(iter(stream(both.engine, begun, 1)))[0]
        seen = [set(text[: t + 1])]

        def chosen(shift: float, t: int = t, seen: list[set[int]] = seen) -> int:
            drawn = min(max(uniforms(seed, np.array([sequence]), np.array([t]))[0] + shift, 0.0), 1 - 2**-53)
            return int(sample(plain_TV[t : t + 1], sampling, np.array([drawn]), seen)[0])

        if ours != chosen(0):
            assert ours in (chosen(NEAR), chosen(-NEAR)) or at_an_edge(plain_TV[t], sampling, seen[0]), t
        if t + 1 < len(text):  # the text goes on as was agreed, whatever was chosen
            begun.sequences[0][-1] = begun.tokens[0][-1] = text[t + 1]
            begun.seen[0] = set(text[: t + 2])


def at_an_edge(logits_V: np.ndarray, sampling: SamplingSettings, seen: set[int]) -> bool:
    """Whether the last token that is kept, or the best one, is all but as good as the next."""
    scores_V = logits_V.copy()
    tokens = list(seen)
    penalty = sampling.repetition_penalty
    scores_V[tokens] = np.where(scores_V[tokens] > 0, scores_V[tokens] / penalty, scores_V[tokens] * penalty)
    down_V = np.sort(scores_V)[::-1]
    edge = 1 if sampling.temperature == 0 else sampling.top_k
    if edge is not None and edge < len(down_V) and down_V[edge - 1] - down_V[edge] < NEAR:
        return True
    if sampling.temperature == 0 or sampling.top_p is None:
        return False
    weights_K = np.exp((down_V - down_V[0]) / sampling.temperature)[: sampling.top_k]
    return bool((np.abs(weights_K.cumsum() / weights_K.sum() - sampling.top_p) < NEAR).any())


@pytest.mark.parametrize("name", ENGINES)
def test_texts_of_two_hundred_tokens_are_equal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """For 99 of 100 seeds, and fewer than one draw in a thousand is so near to a boundary that it could differ."""
    both: Any = FREE[name]
    rows = 200
    plain, ours = (generate(model, [[1]] * rows, 200, SamplingSettings(seed=7)) for model in (both.model, both.engine))
    assert sum(a == b for a, b in zip(plain.tokens, ours.tokens, strict=True)) >= 0.99 * rows
    with torch.inference_mode():
        logits_BTV = both.model(torch.tensor([[1, *tokens[:-1]] for tokens in plain.tokens]))[0].double()
    sums_BTV = logits_BTV.softmax(-1).cumsum(-1).numpy()
    drawn_BT = np.stack([uniforms(7, np.full(200, row), np.arange(200)) for row in range(rows)])
    share = (np.abs(sums_BTV[..., :-1] - drawn_BT[..., None]).min(-1) < 1e-6).mean()
    with capsys.disabled():
        print(f" {name}: {share:.4%} of the draws are within 1e-6 of a boundary", end="")  # noqa: T201
    assert share < 0.001


class Subclass(Lstm):
    """An architecture of somebody else, which inherits from one with an engine."""


def test_without_an_engine_generation_is_plain() -> None:
    torch.manual_seed(0)
    plain = built({"name": "feedforward"})
    assert EngineSelector(plain).select(1, 10**9) is plain
    with pytest.raises(UsageError, match=r"no compiled engine.*Feedforward, declares no compiled_engine"):
        EngineSelector(plain).select(1, 10, "compiled")
    with pytest.raises(UsageError, match="auto, plain or compiled"):
        EngineSelector(plain).select(1, 10, "fast")


def test_a_subclass_does_not_inherit_an_engine() -> None:
    model = built({"name": "lstm", "hidden": 8})
    model.backbone.__class__ = Subclass
    assert EngineSelector(model).select(1, 10**9) is model
    assert Subclass.declares("compiled_engine") is None and Lstm.declares("compiled_engine") is not None
    assert generate(model, [[1, 2]], 5).tokens[0]


def test_other_precisions_and_devices_are_plain() -> None:
    model = built({"name": "lstm", "hidden": 8}).double()
    assert EngineSelector(model).select(1, 10**9) is model
    with pytest.raises(UsageError, match="float64 on cpu, expected float32 on the CPU"):
        EngineSelector(model).select(1, 10, "compiled")


def test_a_short_text_does_not_wait_for_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    from seqlab.decode.engines import selection as choice

    monkeypatch.setattr(choice, "READY", set())
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    both = selector("lstm")
    assert both.select(1, 200) is both.model
    long = both.select(32, 1_000_000)
    assert isinstance(long, CompiledEngine)
    assert both.select(1, 1) is long, "once it is there, it is used"
