"""R29: a cache that others can write to is not trusted, and no value of an option ends in a traceback."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from reliability_runs import TINY_OPTIONS, At, Command, environment, refused, train

import seqlab
from seqlab.cache import cache_directory
from seqlab.errors import SeqlabWarning, StorageError
from seqlab.kernels import kernel_cache

pytestmark = pytest.mark.usefixtures("folder")


# --- the cache ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("open_folder", ["shared", "shared/numba"])
def test_a_cache_that_anybody_may_write_to_is_not_used(
    open_folder: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "shared" / "numba").mkdir(parents=True)
    (folder / open_folder).chmod(0o777)
    monkeypatch.setenv("SEQLAB_CACHE", str(folder / "shared"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "own"))
    with pytest.warns(SeqlabWarning, match="anybody may write to it"):
        assert cache_directory("numba") == folder / "own" / "seqlab" / "numba"
    (folder / "own" / "seqlab").chmod(0o777)
    with pytest.raises(StorageError, match="Set SEQLAB_CACHE to a folder of your own"):
        cache_directory("numba")


def test_a_cache_of_somebody_else_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "theirs").mkdir()
    monkeypatch.setenv("SEQLAB_CACHE", str(folder / "theirs"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "own"))
    assert cache_directory("tokens").is_relative_to(folder / "theirs")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.warns(SeqlabWarning, match="belongs to somebody else"):
        assert cache_directory("tokens") == folder / "own" / "seqlab" / "tokens"


@pytest.mark.filterwarnings("ignore:SEQLAB_CACHE")
@pytest.mark.parametrize("variable", ["SEQLAB_CACHE", "NUMBA_CACHE_DIR"])
def test_planted_kernels_are_not_loaded(variable: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "shared").mkdir()
    (folder / "shared").chmod(0o777)
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("SEQLAB_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "own"))
    monkeypatch.setenv(variable, str(folder / "shared"))
    assert kernel_cache().is_relative_to(folder / "own")


def baseline_file() -> Path:
    (path,) = Path(os.environ["SEQLAB_CACHE"], "baselines").iterdir()
    return path


def damage_baselines(how: str) -> None:
    content = baseline_file().read_bytes()
    new = {
        "another number": re.sub(rb"(\"nats_per_token\": \d)", rb"\g<1>1", content),
        "truncated": content[:-20],
        "empty": b"",
        "a list": b"[]",
        "not JSON": b"\xff",
    }
    assert new[how] != content
    baseline_file().write_bytes(new[how])


@pytest.mark.parametrize("how", ["another number", "truncated", "empty", "a list", "not JSON"])
def test_damaged_baselines_are_said_and_measured_anew(how: str, text: Path) -> None:
    before = seqlab.load(train(text, Path("first"), steps=1)).results
    damage_baselines(how)
    with pytest.warns(SeqlabWarning, match="the cache is damaged and made anew"):
        after = seqlab.load(train(text, Path("second"), steps=1)).results
    assert before is not None and after is not None
    assert before.baselines == after.baselines
    train(text, Path("third"), steps=1)  # without a warning, which would be an error


def test_a_text_that_is_cut_while_a_model_is_trained_leaves_no_baseline(text: Path) -> None:
    whole = text.read_text()
    own = Path("my.txt")
    own.write_text(whole)
    with pytest.warns(SeqlabWarning, match=r"no baseline is measured: 'my\.txt' was changed"):
        run = train(own, Path("run"), At(1, lambda: os.truncate(own, 0)), steps=2)
    results = seqlab.load(run).results
    assert results is not None and results.baselines == []
    own.write_text(whole)
    results = seqlab.load(train(own, Path("again"), steps=2)).results
    assert results is not None
    assert {baseline.name: baseline.metrics["nats_per_token"] > 0 for baseline in results.baselines}["xz"]


# --- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    ["x = " + "9" * 5000, "x = " + "[" * 100_000, "x" * 2_000_000, "\udcff", "train = 5", "[train]\nlr = {a = 1}"],
    ids=["digits", "nesting", "size", "not UTF-8", "no table", "a table"],
)
def test_settings_files_that_cannot_be_read(content: str, text: Path, command: Command) -> None:
    Path("my.toml").write_bytes(content.encode("utf-8", "surrogateescape"))
    refused(command("train", text, "--config", "my.toml", *TINY_OPTIONS), 2)


def test_a_device_as_settings_file(text: Path, command: Command) -> None:
    refused(command("train", text, "--config", "/dev/zero"), 2, "/dev/zero")


@pytest.mark.parametrize(
    "setting",
    ["train.from_step=1", "corpus.split=whole", "backbone.name=5", "train.lr=" + "9" * 5000, "train.lr=" + "[" * 10**5,
     "train.lr=1e999", "train.steps=1e400", "task.name=[]", "tokenizer.name={}", "x.y=1"],
    ids=lambda setting: setting[:20],
)  # fmt: skip
def test_settings_that_are_wrong(setting: str, text: Path, command: Command) -> None:
    refused(command("train", text, "--set", setting, *TINY_OPTIONS), 2)


@pytest.mark.parametrize(
    "words", [["results", ""], ["results", "/"], ["results", "nowhere"], ["runs", ""], ["report", ""]]
)
def test_folders_that_hold_no_results(words: list[str], command: Command) -> None:
    answer = command(*words)
    assert answer.code in (0, 2, 65, 66), answer
    assert "Traceback" not in answer.err


@pytest.mark.parametrize("closed", ["1", "1 2"])
def test_closed_standard_streams(closed: str) -> None:
    redirects = " ".join(f"{stream}>&-" for stream in closed.split())
    program = f"{sys.executable} -m seqlab list tasks {redirects}"
    done = subprocess.run(["sh", "-c", program], env=environment(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr + done.stdout
    assert done.returncode in (0, 74), done
