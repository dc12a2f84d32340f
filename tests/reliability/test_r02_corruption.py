"""R2: a changed byte in any file that a manifest vouches for is seen before a tensor is used, and the file is named."""

import random
from pathlib import Path

import pytest
from reliability_runs import resume

from seqlab import api
from seqlab.errors import DataError
from seqlab.runs.checkpoint import checkpoints

ROOT = ["config.json", "tokenizer.json", "model.safetensors", "results.json", "manifest.json"]
CHECKPOINT = ["weights.safetensors", "optimiser.safetensors", "carry.safetensors", "manifest.json"]


def use(path: Path, run: Path) -> None:
    """What reads the file, stopped where it would first use a tensor."""

    def used(*_: object) -> None:
        raise AssertionError(f"'{path}' is damaged, and a tensor was used")

    if path.name == "results.json":
        assert api.load(run).results
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("seqlab.runs.checkpoint.put_weights", used)
        patch.setattr("seqlab.runs.load.put_weights", used)
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
    newest = checkpoints(run / "checkpoints")[-1]
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


def test_another_spelling_of_the_same_manifest_is_seen(tiny_run: Path) -> None:
    """Not only its meaning but every byte of it is vouched for."""
    for path in (tiny_run / "manifest.json", checkpoints(tiny_run / "checkpoints")[-1] / "manifest.json"):
        intact = path.read_text()
        for spelling in (intact.replace("{", "{ ", 1), intact.replace('"files"', '"\\u0066iles"'), intact + "\n"):
            assert spelling != intact
            path.write_text(spelling)
            with pytest.raises(DataError, match=r"manifest\.json"):
                use(path, tiny_run)
        path.write_text(intact)


def test_a_file_from_another_run_is_seen(tiny_run: Path) -> None:
    """Whole in itself, and not the one that belongs here."""
    older, newer = checkpoints(tiny_run / "checkpoints")[-2:]
    (newer / "weights.safetensors").write_bytes((older / "weights.safetensors").read_bytes())
    with pytest.raises(DataError, match=r"weights\.safetensors"):
        resume(tiny_run)


def test_damaged_best_weights_are_seen_when_training_goes_on_not_when_it_ends(tiny_run: Path) -> None:
    weights = tiny_run / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"model\.safetensors"):
        resume(tiny_run, more=1)
