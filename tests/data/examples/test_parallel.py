"""Two files, line by line."""

import gzip
import json
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.config import CorpusSettings
from seqlab.data.examples.example import TextPair
from seqlab.data.examples.lines import InputFixes
from seqlab.data.examples.load import open_examples, open_unsplit
from seqlab.data.examples.parallel import read_parallel, refuse_swapped
from seqlab.errors import DataError, MissingInput, UsageError

quick = settings(max_examples=100)
lines = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@pytest.fixture
def both(write):
    return lambda source, target: (write("a.en", source), write("a.de", target))


@quick
@given(st.lists(st.tuples(lines, lines) | st.none(), min_size=1, max_size=6).filter(any))
def test_lines_are_paired_and_what_is_empty_in_both_is_left_out(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("parallel")
    (folder / "a.en").write_bytes("".join((row[0] if row else "") + "\n" for row in rows).encode())
    (folder / "a.de.gz").write_bytes(gzip.compress("\n".join(row[1] if row else " " for row in rows).encode() + b"\n"))
    examples = read_parallel(folder / "a.en", folder / "a.de.gz", InputFixes())
    assert [located.example for located in examples] == [TextPair(*row) for row in rows if row]
    assert [located.location.line for located in examples] == [number for number, row in enumerate(rows, 1) if row]


@pytest.mark.parametrize(
    "source, target, message",
    [
        (
            "a\nb\nc\n",
            "x\n",
            "a.en' has 3 lines and '{de}' 1, but both need the same number: '{en}', line 2 has",
        ),
        ("a\n", "x\ny\n", "a.en' has 1 line and '{de}' 2, but both need the same number: '{de}', line 2 has"),
        ("", "x\n", "'{de}', line 1 has no partner"),
        ("a\n\nb\n", "x\ny\nz\n", "'{en}', line 2: the line is empty in a.en, and not in a.de"),
        ("a\nb", "x\n \n", "'{de}', line 2: the line is empty in a.de, and not in a.en"),
        ("", "", "are empty"),
        ("\n\n", "\n\n", "are empty"),
        (b"a\n\xff\n", "x\ny\n", "'{en}', line 2, offset 2: byte 0xff is not UTF-8"),
        ("a\n", b"x\0\n", "'{de}', line 1: a NUL character"),
    ],
)
def test_what_does_not_fit_is_said_with_its_lines(both, source, target, message):
    en, de = both(source, target)
    with pytest.raises(DataError) as refused:
        read_parallel(en, de, InputFixes())
    assert message.format(en=en, de=de) in str(refused.value)


def test_a_mark_and_other_line_ends_are_put_right(both):
    noticed = InputFixes()
    en, de = both(b"\xef\xbb\xbfa\r\n", "x\n")
    [located] = read_parallel(en, de, noticed)
    assert located.example == TextPair("a", "x")
    assert len(noticed.notes()) == 2


def test_a_missing_side(tmp_path, both):
    en, _ = both("a\n", "b\n")
    with pytest.raises(MissingInput, match="nowhere"):
        read_parallel(en, tmp_path / "nowhere.de", InputFixes())


def test_only_a_newline_ends_a_line(both):
    en, de = both("a\u2028b\x0cc\x85d\n", "x\n")
    examples = read_parallel(en, de, InputFixes())
    assert [located.example for located in examples] == [TextPair("a\u2028b\x0cc\x85d", "x")]


def test_pairs_without_a_partner_are_skipped_and_empty_ones_counted(write):
    en, de = write("a.en", "a\n\nb\nc\nd\n"), write("a.de", "x\n\n\ny\nz\n")
    fixes = InputFixes(skip_limit=0.25)
    assert [located.example.source for located in read_parallel(en, de, fixes)] == ["a", "c", "d"]
    assert fixes.notes() == [
        "passed over 1 row or pair of lines without content",
        f"skipped 1 of the 4 pairs of '{en}' (line 3: the line is empty in a.de, and not in a.en)",
    ]


def test_only_settings_that_can_be_set_are_advised(both):
    """A run that scores other data uses its own limit."""
    paths = tuple(map(str, both("a\n\n" * 5 + "a\n" * 10, "b\n" * 20)))
    with pytest.raises(DataError, match=r"Correct them, or skip them: --set corpus\.skip_limit=0\.25$"):
        open_examples("pairs", CorpusSettings(source=paths))
    with pytest.raises(DataError, match=r"Correct them or remove them\.$"):
        open_unsplit("pairs", CorpusSettings(source=paths))


def test_held_out_files_in_the_other_order_are_refused(write):
    names = ("a.en", "a.de", "b.en", "b.de")
    for name in names:
        write(name, "".join(f"{name} {number}\n" for number in range(12)))
    folder = write("c.en", "x\n").parent
    paths = [str(folder / name) for name in names]
    open_examples("pairs", CorpusSettings(source=tuple(paths[:2]), validation=tuple(paths[2:])))
    with pytest.raises(UsageError, match="the test files are in the order de en, and training has en de: give"):
        open_examples("pairs", CorpusSettings(source=tuple(paths[:2]), test=(paths[3], paths[2])))


def test_the_columns_of_a_table_have_an_order_too(write):
    table, turned = (
        str(write(name, f"{first},{second}\n" + "".join(f"{first} {at},{second} {at}\n" for at in range(12))))
        for name, first, second in (("a.csv", "en", "de"), ("b.csv", "de", "en"))
    )
    files = tuple(str(write(f"x.{language}", f"{language}\n")) for language in ("en", "de"))
    refuse_swapped({"training": (table,), "given": files})
    for swapped, advice in ((files[::-1], "give sources and targets in the same order"), ((turned,), "exchange both")):
        for trained in ((table,), files):
            with pytest.raises(UsageError, match=f"in the order de en, and training has en de: {advice}"):
                refuse_swapped({"training": trained, "given": swapped})


@pytest.mark.parametrize("copied, said", [(12, True), (6, True), (5, False)])
def test_targets_that_are_their_sources_are_counted(write, copied, said):
    sides = [[f"text {at}" for at in range(12)], [f"text {at}" if at < copied else f"Text {at}." for at in range(12)]]
    files = [write(name, "\n".join(side) + "\n") for name, side in zip(("a.en", "a.de"), sides, strict=True)]
    notes = open_examples("pairs", CorpusSettings(source=tuple(map(str, files)))).notes
    assert any(f"{copied} of the 12 targets equal their sources" in note for note in notes) == said


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_the_command_for_json_lines_on_one_side_writes_a_text_on_each_line(write, tmp_path):
    rows = [{"id": str(at), "text": f"the film\nnumber {at}"} for at in range(10)]
    en = write("a.en", "".join(json.dumps(row) + "\n" for row in rows))
    de = write("a.de", "".join(f"der Film Nummer {at}\n" for at in range(10)))
    fixes = InputFixes()
    read_parallel(en, de, fixes)
    (note,) = [note for note in fixes.notes() if "JSON lines" in note]
    subprocess.run(note.partition("line by line: ")[2], shell=True, check=True, cwd=tmp_path)
    pairs = read_parallel(tmp_path / "new.en", de, InputFixes())
    assert [located.example.source for located in pairs] == [f"the film number {at}" for at in range(10)]


def test_commands_for_two_files_write_two(write) -> None:
    cue = "{}\n00:00:0{},000 --> 00:00:0{},500\nword {}\n\n"
    files = [write(f"a.{name}.srt", "".join(cue.format(at, at, at, at) for at in range(1, 9))) for name in ("en", "de")]
    fixes = InputFixes()
    read_parallel(files[0], files[1], fixes)
    written = [note.rpartition("> ")[2] for note in fixes.remarks if "subtitles" in note]
    assert written == ["new.txt", "new-2.txt"]
