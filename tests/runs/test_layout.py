"""Where runs go: names that are free, nothing overwritten unasked, nothing removed that is not a run."""

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from runs_cases import TEXT, trained

from seqlab import api
from seqlab.errors import DataError, MissingInput, SeqlabWarning, StorageError, UsageError
from seqlab.runs import manifest
from seqlab.runs.directory import CARD, LOOKS, RunDirectory, begin_run, best_run_path, free_run_path, link_best_run
from seqlab.runs.lock import LOCK

# --- names ----------------------------------------------------------------------------------------------------------


def test_the_first_free_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2, 3):
        path = free_run_path("my", "lstm")
        assert path == Path(f"runs/my-lstm-{number}")
        path.mkdir(parents=True)
    Path("runs/my-lstm-2").rmdir()
    assert free_run_path("my", "lstm") == Path("runs/my-lstm-2")
    assert free_run_path("my", "gru") == Path("runs/my-gru-1")


@pytest.mark.parametrize(
    ("corpus", "stem"),
    [
        ("a b/c", "a-b-c"),
        ("../../etc", "etc"),
        ("日本語", "text"),
        ("", "text"),
        (".hidden", "hidden"),
        ("-rf", "rf"),
        ("x" * 300, "x" * 48),
        ("tiny-shakespeare", "tiny-shakespeare"),
    ],
)
def test_names_are_safe(corpus: str, stem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = free_run_path(corpus, "lstm")
    assert path == Path("runs") / f"{stem}-lstm-1"


def test_a_card_with_changes_is_kept(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    card = run.path / CARD
    written = card.read_text(encoding="utf-8")
    assert api.resume(run, more=1) and "2 steps" in card.read_text(encoding="utf-8")
    card.write_text(written + "my note", encoding="utf-8")
    with pytest.raises(UsageError, match=r"also remove what no run has written: .*README\.md\. Move it"):
        begin_run(run.path, True)
    with pytest.warns(SeqlabWarning, match=r"README\.md of .* had been changed: it is now README-1\.md"):
        api.resume(run, more=1)
    assert "my note" not in card.read_text(encoding="utf-8")
    assert (run.path / "README-1.md").read_text(encoding="utf-8") == written + "my note"


# --- beginning ------------------------------------------------------------------------------------------------------


def test_a_run_begins_in_a_folder_that_is_new_or_empty(tmp_path: Path) -> None:
    assert begin_run(tmp_path / "a" / "b", False).is_run()
    (tmp_path / "empty").mkdir()
    assert begin_run(tmp_path / "empty", False).is_run()


def test_a_run_is_replaced_only_when_that_is_asked_for(tmp_path: Path) -> None:
    first = begin_run(tmp_path / "run", False)
    first.write_file("config.json", b'{"format": "seqlab-run"}')
    with pytest.raises(UsageError, match=r"already contains a run\. Replace it with --overwrite"):
        begin_run(tmp_path / "run", False)
    (tmp_path / "run" / "checkpoints" / "step-0").mkdir(parents=True)  # there is something to resume from
    with pytest.raises(UsageError, match=r"already contains a run\. Continue it with 'seqlab resume.*--overwrite"):
        begin_run(tmp_path / "run", False)
    assert (tmp_path / "run" / "config.json").is_file()
    begin_run(tmp_path / "run", True)
    assert [path.name for path in (tmp_path / "run").iterdir()] == [manifest.NAME]


@pytest.mark.parametrize("damage", ["config.json", "manifest.json"])
def test_a_damaged_run_is_still_a_run(damage: str, tmp_path: Path) -> None:
    run = begin_run(tmp_path / "run", False)
    run.write_file("config.json", b'{"format": "seqlab-run"}')
    (run.path / damage).write_text("}")
    begin_run(run.path, True)


FOLDERS: dict[str, dict[str, str]] = {
    "somebody's work": {"thesis.txt": "years of it"},
    "a project with a config.json": {"config.json": '{"name": "my-app"}', "index.js": ""},
    "a project with broken JSON": {"config.json": "{"},
    "a project with checkpoints": {"checkpoints/model.pt": "", "train.py": ""},
    "a project with a manifest.json": {"manifest.json": '{"files": {}, "facts": {}}', "app.js": ""},
    "an extension": {"manifest.json": '{"manifest_version": 3}'},
    "hidden things": {".git/config": ""},
}


@pytest.mark.parametrize("kind", FOLDERS)
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_is_not_a_run_is_never_touched(kind: str, overwrite: bool, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    for name, content in FOLDERS[kind].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    with pytest.raises(UsageError, match="not a run"):
        begin_run(folder, overwrite)
    assert {name: (folder / name).read_text() for name in FOLDERS[kind]} == FOLDERS[kind]


def test_a_checkpoint_is_not_a_run(tmp_path: Path) -> None:
    """It has a manifest of its own."""
    run = trained(tmp_path, steps=1)
    with pytest.raises(UsageError, match="not a run"):
        begin_run(run.path / "checkpoints" / "step-1", True)


def test_places_where_nothing_can_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file")
    for overwrite in (False, True):
        with pytest.raises(UsageError):
            begin_run(tmp_path / "file", overwrite)
        with pytest.raises(StorageError, match="cannot be written"):
            begin_run(tmp_path / "file" / "run", overwrite)
    assert (tmp_path / "file").read_text() == "a file"


def test_a_link_to_a_run_is_not_removed_through(tmp_path: Path) -> None:
    run = begin_run(tmp_path / "run", False)
    (tmp_path / "link").symlink_to(run.path)
    with pytest.raises(UsageError, match="link"):
        begin_run(tmp_path / "link", True)
    assert run.is_run()


def test_a_replacement_stopped_anywhere_can_be_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever was removed before the stop, what is left is still known as a run."""

    class Stopped(BaseException):
        pass

    begun = trained(tmp_path, steps=1)
    for number in range(20):  # folders list their files in any order, so the manifest must not be last by chance
        (begun.path / f".more-{number}.tmp").write_text("more")
    stops = 0
    for stop in range(1, 100):
        run = RunDirectory(shutil.copytree(begun.path, tmp_path / f"copy-{stop}"))
        calls: list[str] = []

        def counted(real: Callable[..., Any], stop: int = stop, calls: list[str] = calls) -> Callable[..., Any]:
            def call(*args: Any, **named: Any) -> Any:
                calls.append(str(args))
                if len(calls) == stop:
                    raise Stopped
                return real(*args, **named)

            return call

        with monkeypatch.context() as patch, suppress(Stopped):
            for name in ("unlink", "rmdir", "fsync", "replace", "mkdir"):
                patch.setattr(os, name, counted(getattr(os, name)))
            begin_run(run.path, True)
            break
        stops += 1
        again = begin_run(run.path, True)
        assert {item.name for item in again.path.iterdir()} <= {manifest.NAME, LOCK}
    assert stops > 8


def test_only_what_runs_write_is_replaced(tmp_path: Path) -> None:
    """Nothing of the user's is removed, and looks at a test split stay counted."""
    path = trained(tmp_path, steps=1).path
    (path / "notes.txt").write_text("mine")
    (path / "onnx").mkdir()
    before = sorted(path.iterdir())
    with pytest.raises(UsageError, match=r"also remove what no run has written: notes\.txt, onnx\. Move it"):
        begin_run(path, True)
    assert sorted(path.iterdir()) == before
    (path / "notes.txt").unlink()
    (path / "onnx").rmdir()
    (path / LOOKS).write_text("{}")
    assert {item.name for item in begin_run(path, True).path.iterdir()} <= {manifest.NAME, LOCK, LOOKS}
    assert (path / LOOKS).is_file()


def test_a_first_manifest_that_was_being_written_makes_a_run(tmp_path: Path) -> None:
    (tmp_path / f".{manifest.NAME}.4321.tmp").write_bytes(b"half")
    assert begin_run(tmp_path, True).is_run() and len(list(tmp_path.iterdir())) == 1


def test_a_comparison_leads_to_its_best_run_by_a_link_or_where_there_are_none_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    assert best_run_path(tmp_path) == tmp_path
    link_best_run(tmp_path, Path("one"))
    assert best_run_path(tmp_path) == tmp_path / "one" and (tmp_path / "best").is_symlink()
    monkeypatch.setattr(Path, "symlink_to", lambda *_: (_ for _ in ()).throw(OSError("not here")))
    link_best_run(tmp_path, Path("two"))
    assert best_run_path(tmp_path) == tmp_path / "two" and not (tmp_path / "best").is_symlink()
    (tmp_path / "config.json").write_text("{}")
    assert best_run_path(tmp_path) == tmp_path


def test_a_copied_comparison_needs_no_link(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    comparison = tmp_path / "comparison"
    shutil.copytree(run.path, comparison / "runs" / "lstm-0")
    link_best_run(comparison, Path("runs/lstm-0"))
    followed = shutil.copytree(comparison, tmp_path / "followed")  # as cp -rL does
    assert api.load(followed).path == followed / "best"
    link_best_run(followed, Path("runs/lstm-0"))  # the comparison is finished again
    assert api.load(followed).path == followed / "best"
    begin_run(followed / "runs" / "lstm-0", True)
    with pytest.raises(DataError, match="move it somewhere else"):
        link_best_run(followed, Path("runs/lstm-0"))

    (comparison / "best").unlink()
    (comparison / "results.json").write_text('{"best": {"path": "runs/lstm-0"}}')
    assert api.load(comparison).path == comparison / "runs" / "lstm-0"


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"runs/\0", b"runs/\x1b[31m"])
def test_a_best_run_that_is_not_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "best").write_bytes(content)
    with pytest.raises(DataError, match="does not name the best run"):
        api.load(tmp_path)


# --- what is in it --------------------------------------------------------------------------------------------------


def test_while_a_file_is_replaced_both_contents_are_vouched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whenever it is stopped, the file that is there can be read."""
    run = begin_run(tmp_path / "run", False)
    run.write_file("config.json", b"old")
    seen: list[bytes] = []
    real = os.fsync

    def look(handle: int) -> None:
        real(handle)
        seen.append(manifest.read_verified(run.path, "config.json"))

    monkeypatch.setattr(os, "fsync", look)
    run.write_file("config.json", b"new")
    assert seen[0] == b"old" and seen[-1] == b"new" and len(seen) >= 4
    assert sorted(seen, reverse=True) == seen
    assert len(manifest.read_manifest(run.path)[0]["config.json"]) == 1


def test_a_stopped_replacement_can_be_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = begin_run(tmp_path / "run", False)
    run.write_file("config.json", b"old")
    for stop in range(1, 7):
        calls: list[int] = []

        def crash(_: int, stop: int = stop, calls: list[int] = calls) -> None:
            calls.append(1)
            if len(calls) == stop:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", crash)
            with pytest.raises(KeyboardInterrupt):
                run.write_file("config.json", f"new {stop}".encode())
        assert manifest.read_verified(run.path, "config.json")
    run.write_file("config.json", b"last")
    assert manifest.read_verified(run.path, "config.json") == b"last"


def test_a_configuration_comes_back(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    config = RunDirectory(run.path).config()
    assert config == run.config and config["format"] == "seqlab-run"
    assert config["settings"]["train"]["steps"] == 1 and config["threads"] == 1
    assert config["parameters"]["total"] == sum(p.numel() for p in run.model.parameters())


def test_folders_that_are_no_runs_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="there is no run"):
        RunDirectory(tmp_path / "none").config()
    with pytest.raises(MissingInput, match="not a run"):
        RunDirectory(tmp_path).config()
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MissingInput, match=r"manifest\.json"):
        RunDirectory(tmp_path).config()


def test_more_files_than_a_configuration_can_name(tmp_path: Path) -> None:
    """Said before anything is trained, because nobody could load it afterwards."""
    (tmp_path / ("x" * 100)).mkdir()
    files = [tmp_path / ("x" * 100) / f"{number:0100d}.txt" for number in range(4000)]
    for path in files:
        path.write_text(f"{TEXT[:30]} {path.name[-9:]}")
    with pytest.raises(UsageError, match="give a folder"):
        api.train(files, out=tmp_path / "run", steps=1, hidden=4, embedding=4, window=8, batch_size=2, threads=1)


def test_a_version_that_is_not_a_number(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    config = {**run.config, "version": None}
    RunDirectory(run.path).write_file("config.json", json.dumps(config).encode())
    with pytest.raises(DataError, match="not written by seqlab"):
        api.load(run.path)
