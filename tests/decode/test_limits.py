"""What one call may ask for is limited, and a token that does not exist never reaches a kernel."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_runs import small_run

from seqlab import api
from seqlab.decode import text_generator
from seqlab.decode.engines.selection import EngineSelector
from seqlab.decode.generate import generate
from seqlab.decode.sampling import SamplingSettings
from seqlab.errors import UsageError


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    return small_run(tmp_path_factory.mktemp("limits"))


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("token", [-1, 10**6, 10**30, "size"])
def test_a_token_outside_the_vocabulary_is_refused(run: api.Run, engine: str, token: Any) -> None:
    token = run.tokenizer.vocab_size if token == "size" else token
    for prompt in ([token], [1, token], [token, 1]):
        with pytest.raises(UsageError, match="the vocabulary has the ids 0 to"):
            run.generate(prompt, 3, engine=engine)
        with pytest.raises(UsageError, match="the vocabulary has the ids 0 to"):
            run.search(prompt, 3, width=2, engine=engine)
        with pytest.raises(UsageError, match="the vocabulary has the ids 0 to"):
            run.stream(prompt, 3, engine=engine)  # before the first piece


@pytest.mark.parametrize("prompt", [["a"], [1.5], [None], 5])
def test_a_prompt_is_a_text_or_token_ids(run: api.Run, prompt: Any) -> None:
    with pytest.raises(UsageError, match="neither a text nor a list of token ids"):
        run.generate(prompt, 3)


def test_engines_check_their_tokens_themselves(run: api.Run) -> None:
    engine = EngineSelector(run.model).engine
    for prompt in ([V := run.tokenizer.vocab_size], [V, 0], [-1]):
        with pytest.raises(UsageError, match="there is no token"):
            generate(engine, [prompt], 2, SamplingSettings())
    with pytest.raises(UsageError, match="there is no token"):
        engine.step(torch.tensor([V]), engine.start(1))
    with pytest.raises(UsageError, match="there is no token"):
        engine.generate_block(
            engine.start(1),
            np.array([-7]),
            engine.sampling_parameters(SamplingSettings(), ()),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            np.zeros((1, V), np.bool_),
            1,
        )


@pytest.mark.parametrize(
    ("call", "options"),
    [
        ("generate", {"length": 10**20}),
        ("generate", {"length": -1}),
        ("generate", {"samples": 10**5}),
        ("generate", {"samples": 0}),
        ("search", {"width": 10**7}),
        ("search", {"width": 0}),
        ("search", {"length": 10**20}),
    ],
)
def test_requests_beyond_the_limits_are_refused(run: api.Run, call: str, options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match=r"give a number from [01] to [\d,]+\."):
        getattr(run, call)("the ", **options)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
def test_many_texts_are_those_of_one_batch(run: api.Run, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = run.generate("the ", 12, samples=7, engine=engine)
    monkeypatch.setattr(text_generator, "ROWS_AT_ONCE", 3)
    grouped = run.generate("the ", 12, samples=7, engine=engine)
    assert grouped.tokens == together.tokens and grouped.texts == together.texts
    assert run.continue_from(grouped, 8).tokens == run.continue_from(together, 8).tokens


THREADS = "the number of threads is {}: give a number from 1 to 1,024."


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("generate", "-n", str(10**9)), "'--samples' / '-n': Input should be less than or equal to 10000 "),
        (("generate", "--beam", str(10**7)), "'--beam': Input should be less than or equal to 1000 "),
        (("generate", "--beam", "0"), "'--beam': Input should be greater than or equal to 1 "),
        (
            ("generate", "--length", str(10**20), "--json"),
            "'--length' / '-l': Input should be less than or equal to 1000000 ",
        ),
        (
            ("generate", "--beam", "2", "--n-best", str(10**20)),
            "'--n-best': Input should be less than or equal to 1000 ",
        ),
        (("predict", "x", "--beam", str(10**20)), "'--beam': Input should be less than or equal to 1000 "),
        (("predict", "x", "--n-best", "100000"), "'--n-best': Input should be less than or equal to 1000 "),
        (("predict", "x", "--max-length", "0"), "'--max-length': Input should be greater than or equal to 1 "),
        (("bench", "--threads", "100000"), THREADS.format("100,000")),
        (("bench", "--threads", "-1"), THREADS.format("-1")),
        (("bench", "--threads", str(10**20)), THREADS.format("100,000,000,000,000,000,000")),
    ],
)
def test_options_have_limits(
    run: api.Run,
    arguments: tuple[str, ...],
    refusal: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from seqlab.__main__ import main

    command, *others = arguments
    monkeypatch.setattr("sys.argv", ["seqlab", command, str(run.path), *others])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert refusal in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_threads_have_limits_in_python_too() -> None:
    from seqlab.threads import compute_threads

    before = torch.get_num_threads()
    for threads in (0, -1, 100_000, 10**20):
        with pytest.raises(UsageError, match="the number of threads is"), compute_threads(threads):
            pass
    assert torch.get_num_threads() == before


def test_a_picture_has_a_format(run: api.Run, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    from seqlab.__main__ import main

    monkeypatch.setattr("sys.argv", ["seqlab", "predict", str(run.path), "x", "--picture", "x.zzz"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and ".png" in capsys.readouterr().err
    assert not Path("x.zzz").exists()
