"""`seqlab runs`: the best first, and damaged ones named."""

import json
import shutil
from itertools import groupby
from pathlib import Path

import pytest
from runs_cases import TEXT, metrics, results, trained

from seqlab import api
from seqlab.cli.runs import runs
from seqlab.cli.show import console
from seqlab.errors import MissingInput, UsageError
from seqlab.metrics.descriptions import ACCURACY
from seqlab.runs.directory import RunDirectory
from seqlab.runs.listing import list_runs
from seqlab.runs.results import write_results
from seqlab.training.progress import Reporter


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> api.Run:
    folder = tmp_path_factory.mktemp("listing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder / "cache"))
        return trained(folder, steps=2)


@pytest.fixture
def folder(made: api.Run, tmp_path: Path) -> Path:
    """Three runs: good, better, unfinished."""
    for name, bits in (("good", 3.0), ("better", 1.0), ("unfinished", None)):
        run = RunDirectory(Path(shutil.copytree(made.path, tmp_path / "runs" / name)))
        if bits is None:
            (run.path / "results.json").unlink()
        else:
            write_results(run, results(validation=metrics(1.0, 2.7, bits, bits), steps=int(bits)))
    return tmp_path / "runs"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell is wrapped, however long the path of the temporary folder is."""
    monkeypatch.setattr(console, "width", 1000)


def test_a_run_without_evaluated_weights_says_how_to_go_on(folder: Path) -> None:
    (folder / "unfinished/model.safetensors").unlink()
    with pytest.raises(MissingInput, match=r"no evaluated weights yet.*: seqlab resume .*/unfinished$"):
        api.load(folder / "unfinished")


def test_what_is_no_folder_is_refused(folder: Path) -> None:
    with pytest.raises(MissingInput, match=r"there is no folder '.*/nowhere': name one that has runs"):
        list_runs(folder / "nowhere")
    with pytest.raises(UsageError, match=r"config\.json' is a file: name a folder"):
        list_runs(folder / "good" / "config.json")


def test_a_run_that_is_mixed_with_counts_says_so(folder: Path) -> None:
    run = RunDirectory(folder / "good")
    config = json.loads((run.path / "config.json").read_text())
    config["settings"]["task"]["mix"] = "counts"
    run.write_file("config.json", json.dumps(config).encode())
    archs = {Path(entry.path).name: entry.arch for entry in list_runs(folder)}
    assert archs["good"] == f"{archs['better']}+counts"


def test_a_mixture_that_was_fitted_on_validation_is_no_rival_of_runs_that_were_not(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is a test split; otherwise it was fitted on training text, as in "kept apart"."""
    for name, mix, corpus in (
        ("good", "none", {"split_ratios": "80/10/10"}),
        ("better", "counts", {"split_ratios": "80/10/10"}),
        ("kept apart", "counts", {"split_ratios": "90/10"}),
        ("test file", "counts", {"test": ["test.txt"]}),
        ("validation file", "counts", {"validation": ["valid.txt"], "split_ratios": "80/10/10"}),
    ):
        run = RunDirectory(folder / name)
        if not run.path.exists():
            shutil.copytree(folder / "good", run.path)
        config = json.loads((run.path / "config.json").read_text())
        config["settings"]["task"]["mix"] = mix
        config["settings"]["corpus"] |= corpus
        run.write_file("config.json", json.dumps(config).encode())
    entries = list_runs(folder)
    groups = [{Path(entry.path).name for entry in group} for _, group in groupby(entries, lambda entry: entry.group)]
    assert groups == [{"good", "kept apart", "validation file"}, {"better", "test file"}, {"unfinished"}]
    assert {Path(entry.path).name for entry in entries if entry.as_dict()["fitted_on_validation"]} == groups[1]
    runs(folder)
    said = capsys.readouterr().out
    assert said.count("mixtures fitted on this validation split, so it flatters them") == 1


def test_a_run_that_started_from_another_is_marked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = folder.parent / "my.txt"
    text.write_text(TEXT, encoding="utf-8")
    run = api.train(
        text,
        init=folder / "good", out=folder / "further", steps=1, batch_size=4, threads=1, sample_tokens=0,
        reporter=Reporter(),
    )  # fmt: skip
    started = {Path(entry.path).name: entry.as_dict()["started_from"] for entry in list_runs(folder)}
    assert started == {"good": "", "better": "", "unfinished": "", "further": str(folder / "good")}
    runs(folder)
    said = capsys.readouterr().out
    assert f"{run.path} started from {folder / 'good'}: its steps come on top of those of that run" in said
    assert said.count("started from") == 1


def test_the_best_comes_first(folder: Path, made: api.Run) -> None:
    entries = list_runs(folder)
    assert [Path(entry.path).name for entry in entries] == ["better", "good", "unfinished"]
    assert [entry.value for entry in entries] == [1.0, 3.0, None]
    assert [entry.metric and entry.metric.key for entry in entries] == ["bits_per_char", "bits_per_char", None]
    assert {entry.task for entry in entries} == {"language"}
    assert [entry.status for entry in entries] == ["finished", "finished", "unfinished"]
    assert [entry.steps for entry in entries] == [1, 3, 2]
    assert {entry.arch for entry in entries} == {"lstm"} and {entry.corpus for entry in entries} == {"my"}
    assert {entry.parameters for entry in entries} == {sum(p.numel() for p in made.model.parameters())}


def test_where_more_is_better_the_most_comes_first_and_figures_are_not_mixed(folder: Path) -> None:
    for name, accuracy in (("good", 71.0), ("better", 93.5)):
        run = RunDirectory(folder / name)
        write_results(
            run, results(validation={"accuracy": accuracy, "examples": 9.0}, headline_metric=ACCURACY, baselines=[])
        )
        shutil.copytree(run.path, folder / f"bits {name}")
    for name, bits in (("bits good", 3.0), ("bits better", 200.0)):
        write_results(RunDirectory(folder / name), results(validation=metrics(1.0, 2.7, bits, bits)))
    entries = list_runs(folder)
    assert [Path(entry.path).name for entry in entries] == ["better", "good", "bits good", "bits better", "unfinished"]
    assert [entry.value for entry in entries] == [93.5, 71.0, 3.0, 200.0, None]


def test_runs_of_a_study_are_listed_too(folder: Path) -> None:
    (folder / "deep/study").mkdir(parents=True)
    (folder / "good").rename(folder / "deep/study/good")
    names = [Path(entry.path).relative_to(folder).as_posix() for entry in list_runs(folder)]
    assert names == ["better", "deep/study/good", "unfinished"]


@pytest.mark.parametrize("copied", [False, True])
def test_runs_of_a_comparison_are_listed_once_and_without_trials(folder: Path, copied: bool) -> None:
    """A copy made with `cp -rL` has the best run twice."""
    comparison = folder / "c"
    for trial in ("runs", "tuning"):
        (comparison / trial).mkdir(parents=True)
    (comparison / "plan.json").write_text("{}")
    (folder / "good").rename(comparison / "runs/good-0")
    shutil.copytree(folder / "unfinished", comparison / "tuning/good-0")
    if copied:
        shutil.copytree(comparison / "runs/good-0", comparison / "best")
    else:
        (comparison / "best").symlink_to("runs/good-0")
    names = [Path(entry.path).relative_to(folder).as_posix() for entry in list_runs(folder)]
    assert names == ["better", "c/runs/good-0", "unfinished"]
    assert [Path(entry.path).name for entry in list_runs(comparison)] == ["good-0"]


def test_only_what_can_be_compared_is_sorted_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another text, another split or another mode is another group, however good its value."""
    for name, bits, section, key, value in (
        ("other text", 0.5, "corpus", "fingerprint", "f" * 64),
        ("other split", 0.4, "corpus", "rule", "80/10/10, contiguous"),
    ):
        run = RunDirectory(Path(shutil.copytree(folder / "good", folder / name)))
        config = json.loads((run.path / "config.json").read_text())
        config[section][key] = value
        run.write_file("config.json", json.dumps(config).encode())
        write_results(run, results(validation=metrics(1.0, 2.7, bits, bits)))
    for name, documents in (
        ("from files", "stream"),
        ("lines from files", "lines"),
    ):  # the same files, scored otherwise
        run = RunDirectory(Path(shutil.copytree(folder / "good", folder / name)))
        config = json.loads((run.path / "config.json").read_text())
        config["corpus"]["rule"] = "validation from files"
        config["settings"]["corpus"]["documents"] = documents
        run.write_file("config.json", json.dumps(config).encode())
    carried = RunDirectory(Path(shutil.copytree(folder / "good", folder / "other mode")))
    write_results(carried, results(validation=metrics(1.0, 2.7, 0.3, 0.3), mode="carry"))
    entries = list_runs(folder)
    groups = [[Path(entry.path).name for entry in group] for _, group in groupby(entries, lambda entry: entry.group)]
    assert sorted(groups[:-1]) == [
        ["better", "good"],
        ["from files"],
        ["lines from files"],
        ["other mode"],
        ["other split"],
        ["other text"],
    ]
    assert groups[-1] == ["unfinished"]
    runs(folder)
    said = capsys.readouterr().out.replace("\n", " ")  # lines are as wide as the terminal
    assert "only runs of one table can be compared" in said and str(folder.absolute()) in said.replace(" ", "")


def test_a_text_of_another_name_is_the_same_text_and_another_window_is_another_score(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    renamed = RunDirectory(Path(shutil.copytree(folder / "good", folder / "renamed")))
    config = json.loads((renamed.path / "config.json").read_text())
    config["corpus"]["name"] = "copy"
    renamed.write_file("config.json", json.dumps(config).encode())
    for name, mode in (("longer", "window"), ("carried", "carry")):
        run = RunDirectory(Path(shutil.copytree(folder / "good", folder / name)))
        write_results(run, results(validation=metrics(1.0, 2.7, 0.3, 0.3), mode=mode, window=128))
    carried = RunDirectory(Path(shutil.copytree(folder / "carried", folder / "carried again")))
    write_results(carried, results(validation=metrics(1.0, 2.7, 0.4, 0.4), mode="carry", window=16))
    entries = list_runs(folder)
    groups = [[Path(entry.path).name for entry in group] for _, group in groupby(entries, lambda entry: entry.group)]
    assert groups == [["carried", "carried again"], ["better", "good", "renamed"], ["longer"], ["unfinished"]]
    runs(folder)
    said = capsys.readouterr().out
    assert "language on my or copy (" in said and "mode window of 16:" in said and "mode window of 128:" in said
    assert "mode carry:" in said


@pytest.mark.parametrize("size", [None, 0, 7, 3000, -1])
def test_weights_that_were_cut_are_damage(folder: Path, size: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    weights = folder / "better/model.safetensors"
    content = weights.read_bytes()
    weights.unlink() if size is None else weights.write_bytes(content[:size])
    found = {Path(entry.path).name: (entry.status, entry.value) for entry in list_runs(folder)}
    assert found == {"better": ("damaged weights", None), "good": ("finished", 3.0), "unfinished": ("unfinished", None)}
    runs(folder)
    assert "damaged weights" in " ".join(capsys.readouterr().out.split())


def test_folders_that_are_no_runs_are_passed_over(folder: Path, tmp_path: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "file.txt").write_text("")
    (folder / "for-transformers").mkdir()
    (folder / "for-transformers/config.json").write_text('{"model_type": "gpt_neox"}')
    (folder / "for-transformers/model.safetensors").write_bytes(b"")
    assert len(list_runs(folder)) == 3


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b"[" * 100_000, b'{"format": "seqlab-run"}'])
@pytest.mark.parametrize("name", ["config.json", "manifest.json", "results.json"])
@pytest.mark.parametrize("vouched", [False, True])
def test_damaged_runs_are_named_and_the_others_shown(name: str, content: bytes, vouched: bool, folder: Path) -> None:
    run = folder / "good"
    if vouched and name != "manifest.json":
        RunDirectory(run).write_file(name, content)
    else:
        (run / name).write_bytes(content)
    entries = list_runs(folder)
    assert [Path(entry.path).name for entry in entries] == ["better", "good", "unfinished"]
    assert entries[1].status == "damaged" and entries[1].value is None
    json.dumps([entry.as_dict() for entry in entries])


def test_an_unknown_architecture_is_damage_too(folder: Path) -> None:
    config = json.loads((folder / "good" / "config.json").read_text())
    config["settings"]["backbone"] = {"name": "of the future"}
    RunDirectory(folder / "good").write_file("config.json", json.dumps(config).encode())
    assert [entry.status for entry in list_runs(folder)] == ["finished", "damaged", "unfinished"]
