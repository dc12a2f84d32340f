"""seqlab inspect."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from small_runs import SMALL, small_run, train_small
from torch import Tensor

from seqlab.api import Run
from seqlab.backbones.recurrent import Gru
from seqlab.contracts import Recorded


class Silent(Gru):
    """Declares nothing and records nothing."""

    @property
    def records(self) -> dict[str, Recorded]:
        return {}

    def forward(self, x_BTD: Tensor, state: Any = None, mask_BT: Tensor | None = None, trace: Any = None):
        return super().forward(x_BTD, state, mask_BT, None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run(tmp_path_factory.mktemp("inspected"))


def test_what_a_model_records_is_listed(seqlab: Any, run: Run) -> None:
    answer = seqlab("inspect", str(run.path), "--list")
    assert answer.code == 0
    listed = [line.split()[0] for line in answer.out.splitlines()[1:]]
    assert listed == list(run.model.records) and "layer1.update" in listed
    assert "how much of the past is kept" in answer.out
    described = json.loads(seqlab("inspect", str(run.path), "--list", "--json").out)
    assert described["layer1.update"]["kind"] == "gate"


def test_an_architecture_that_records_nothing_gets_a_sentence(
    seqlab: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_PLUGINS", "")  # commands of later tests do without the class
    (tmp_path / "my.txt").write_text("the cat sat on the mat. " * 40, encoding="utf-8")
    train_small(tmp_path / "my.txt", tmp_path / "run", arch=f"{__name__}:Silent", **{"hidden": SMALL["hidden"]})
    answer = seqlab("inspect", str(tmp_path / "run"), "--list")
    assert answer.code == 0 and "declares nothing that it records" in answer.out
    shown = json.loads(seqlab("inspect", str(tmp_path / "run"), "--text", "the cat sat", "--json").out)
    assert set(shown) - {"not_applicable"} == {
        "surprise", "gradients", "memory", "attribution", "similar", "embeddings",
    }  # fmt: skip


def test_views_are_printed(seqlab: Any, run: Run) -> None:
    answer = seqlab("inspect", str(run.path), "--text", "the cat sat")
    assert answer.code == 0
    assert "the·cat·sat" in answer.out and "gru needs" in answer.out and "h' = (1 - z) ⊙ n + z ⊙ h" in answer.out
    assert "lens: the model 'gru' records 1 of its layers" in answer.out


def test_a_page_is_written_and_what_is_left_out_is_said(seqlab: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "part.txt").write_text("the cat sat", encoding="utf-8")
    answer = seqlab(
        "inspect", str(run.path), "--text-file", str(tmp_path / "part.txt"), "--out", str(tmp_path / "p.html")
    )
    assert answer.code == 0 and "lens is left out" in answer.out and "p.html" in answer.out
    assert "the·cat" not in answer.out
    assert 'id="gates"' in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_only_pages_and_pictures_of_ours_are_replaced(seqlab: Any, run: Run, tmp_path: Path) -> None:
    for name in ("p.html", "p.png"):
        out = tmp_path / name
        command = ("inspect", str(run.path), "--text", "the cat", "--view", "surprise", "--out", str(out))
        assert [seqlab(*command).code for _ in range(2)] == [0, 0]
        out.write_bytes(b"mine")
        refused = seqlab(*command)
        assert refused.code == 2 and "exists, and seqlab did not write it" in refused.err
        assert out.read_bytes() == b"mine"


def test_two_runs_side_by_side(seqlab: Any, run: Run) -> None:
    answer = seqlab("inspect", str(run.path), str(run.path), "--text", "the cat", "--view", "surprise", "--json")
    assert answer.code == 0
    bits = [piece["bits"] for piece in json.loads(answer.out)["surprise"]["pieces"]]
    assert bits[0] == [None, None] and all(a == b for a, b in bits)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "expected a text to read: --text TEXT"),
        (["--text", "a", "--text-file", "b"], "both --text and --text-file were given: give one"),
        (["--text", "the", "--view", "gates", "--head", "1"], "--head does nothing in the view gates"),
        (["--text", "the", "--layer", "1"], "--layer does nothing without a view"),
        (["--text", "the", "--out", "all.png"], "a picture shows one view"),
        (["--text", "the", "--out", "page.txt"], "no page or picture"),
        (["--text", "the", "--out", "page.html", "--json"], "--json does nothing beside --out"),
        (["--text", "the", "--view", "sun"], "unknown view 'sun'"),
        (["--list", "--view", "gates", "--unit", "2"], "--view and --unit do nothing beside --list"),
    ],
)
def test_what_does_not_apply_is_refused(seqlab: Any, run: Run, options: list[str], message: str) -> None:
    answer = seqlab("inspect", str(run.path), *options)
    assert answer.code == 2 and message in answer.err


def test_too_many_runs_and_a_missing_file(seqlab: Any, run: Run, tmp_path: Path) -> None:
    refused = seqlab("inspect", *[str(run.path)] * 3, "--text", "the", "--view", "surprise")
    assert refused.code == 2 and "sets two runs side by side: 3 were given" in refused.err
    answer = seqlab("inspect", str(run.path), "--text-file", str(tmp_path / "no.txt"))
    assert answer.code == 66 and "there is no file" in answer.err


def test_a_run_inspects_itself(run: Run, tmp_path: Path) -> None:
    shown = run.inspect("the cat", "surprise", against=run)
    shown.write(tmp_path / "two.svg")
    assert "per piece of the text" in str(shown) and "run 1" in str(shown) and "run 2" in str(shown)


def test_runs_of_one_architecture_are_told_apart_by_their_folders(seqlab: Any, run: Run, tmp_path: Path) -> None:
    other = shutil.copytree(run.path, tmp_path / "other")
    answer = seqlab("inspect", str(run.path), str(other), "--text", "the cat", "--view", "surprise")
    assert f"{run.path.name} needs" in answer.out and "other needs" in answer.out


@pytest.mark.filterwarnings("default:.*never occur:seqlab.errors.SeqlabWarning")
@pytest.mark.parametrize("codec", ["utf-16", "latin-1"])
def test_a_file_in_another_encoding_is_read_as_for_training(seqlab: Any, run: Run, tmp_path: Path, codec: str) -> None:
    (tmp_path / "a.txt").write_bytes("the cat sat at the café\n".encode(codec))
    answer = seqlab("inspect", str(run.path), "--text-file", str(tmp_path / "a.txt"), "--view", "surprise")
    assert answer.code == 0 and "note: read a.txt as " in answer.err and "NUL" not in answer.err
