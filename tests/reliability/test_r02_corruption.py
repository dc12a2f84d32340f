"""R2: a changed byte in any file that a manifest vouches for is seen before a tensor is used, and the file is named."""

import random
from pathlib import Path
from typing import Any

import pytest
from reliability_runs import only_checkpoint, resume, train

from seqlab import api
from seqlab.errors import DataError, MissingInput
from seqlab.runs.checkpoint import checkpoints

ROOT = ["config.json", "tokenizer.json", "model.safetensors", "results.json", "manifest.json"]
CHECKPOINT = ["weights.safetensors", "optimizer.safetensors", "carry.safetensors", "manifest.json"]


def use(path: Path, run: Path) -> None:
    """What reads the file, stopped where it would first use a tensor."""

    def used(*_: object) -> None:
        raise AssertionError(f"'{path}' is damaged, and a tensor was used")

    if path.name == "results.json":
        assert api.load(run).results
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqlab.runs.checkpoint.load_weights", used)
        patch.setattr("seqlab.runs.load.load_weights", used)
        (api.load if path.parent == run else resume)(run)


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with one bit flipped, one byte replaced, removed or put in, or cut off somewhere."""
    at = draw.randrange(len(content))
    kind = draw.choice(["flip", "flip", "flip", "replace", "remove", "insert", "cut", "append"])
    if kind == "flip":
        return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]
    if kind == "replace":
        return content[:at] + bytes([(content[at] + draw.randrange(1, 256)) % 256]) + content[at + 1 :]
    if kind == "remove":
        return content[:at] + content[at + 1 :]
    if kind == "insert":
        return content[:at] + draw.choice([b" ", b"\n", b"\0", b"}"]) + content[at:]
    return content[:at] if kind == "cut" else content + draw.choice([b" ", b"\n", b"\0"])


def assert_all_is_seen(run: Path, count: int, seed: int) -> None:
    draw = random.Random(seed)
    newest = only_checkpoint(run)
    files = [run / name for name in ROOT] + [newest / name for name in CHECKPOINT]
    for number in range(count):
        path = files[number % len(files)]
        intact = path.read_bytes()
        path.write_bytes(damaged(intact, draw))
        with pytest.raises(DataError) as caught:
            use(path, run)
        assert str(path) in str(caught.value)
        path.write_bytes(intact)
    assert api.load(run).results and resume(run)  # all is as it was


def test_random_damage_is_seen(tiny_run: Path) -> None:
    assert_all_is_seen(tiny_run, 63, seed=1)


@pytest.mark.slow
def test_a_thousand_damages_are_seen(tiny_run: Path) -> None:
    assert_all_is_seen(tiny_run, 1008, seed=2)


# --- the symbols of runs on examples --------------------------------------------------------------------------------

WORDS = ("red", "green", "blue", "fish", "bird", "stone")


@pytest.fixture(params=["tag", "translate"])
def symbols(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """The files that only such a run has: labels and how words are spelt, or the vocabulary of the target."""
    sentences = [[WORDS[(at + place) % 6] for place in range(1 + at % 4)] + [f"n{at}"] for at in range(40)]
    lines = [line for words in sentences for line in (*(f"{w} {'N' if w in WORDS else 'X'}" for w in words), "")]
    (tmp_path / "words.conll").write_text("\n".join(lines) + "\n")
    for name, change in (("text.en", str.lower), ("text.de", str.upper)):
        (tmp_path / name).write_text("".join(f"{change(' '.join(words))}\n" for words in sentences))
    small = {"task": request.param, "steps": 2, "hidden": 8, "embedding": 8, "window": None}
    if request.param == "tag":
        run = api.load(train(tmp_path / "words.conll", tmp_path / "run", **small))
        return [run.path / "labels.json", run.path / "characters.json"]
    source: Any = [tmp_path / "text.en", tmp_path / "text.de"]
    own = {"tokenizer": "word", "settings": {"task.shared_vocabulary": False, "task.beam": 1}}
    return [train(source, tmp_path / "run", **small, **own) / "target.json"]


def test_damaged_symbols_are_seen(symbols: list[Path]) -> None:
    draw = random.Random(3)
    for path in symbols:
        intact = path.read_bytes()
        for _ in range(8):
            path.write_bytes(damaged(intact, draw))
            with pytest.raises(DataError) as caught:
                use(path, path.parent)
            assert str(path) in str(caught.value)
        path.write_bytes(intact)
    assert api.load(symbols[0].parent).results


def test_symbols_that_are_gone_are_named(symbols: list[Path]) -> None:
    for path in symbols:
        intact = path.read_bytes()
        path.unlink()
        with pytest.raises((DataError, MissingInput)) as caught:
            api.load(path.parent)
        assert path.name in str(caught.value)
        path.write_bytes(intact)


def test_another_spelling_of_the_same_manifest_is_seen(tiny_run: Path) -> None:
    """Not only its meaning but every byte of it is vouched for."""
    for path in (tiny_run / "manifest.json", only_checkpoint(tiny_run) / "manifest.json"):
        intact = path.read_text()
        for spelling in (intact.replace("{", "{ ", 1), intact.replace('"files"', '"\\u0066iles"'), intact + "\n"):
            assert spelling != intact
            path.write_text(spelling)
            with pytest.raises(DataError, match=r"manifest\.json"):
                use(path, tiny_run)
        path.write_text(intact)


def test_a_file_from_another_run_is_seen(tiny_run: Path) -> None:
    """Whole in itself, and not the one that belongs here."""
    other = (checkpoints(tiny_run / "checkpoints")[-2] / "weights.safetensors").read_bytes()
    (only_checkpoint(tiny_run) / "weights.safetensors").write_bytes(other)
    with pytest.raises(DataError, match=r"weights\.safetensors"):
        resume(tiny_run)


def test_damaged_best_weights_are_seen_when_training_goes_on_not_when_it_ends(tiny_run: Path) -> None:
    weights = tiny_run / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"model\.safetensors"):
        resume(tiny_run, more=1)
