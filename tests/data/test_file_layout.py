"""Files with unhelpful names are recognized by their lines."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from seqlab.data.file_layout import recognize_layout
from seqlab.data.text.corpus import open_corpus
from seqlab.errors import UsageError
from seqlab.training.request import settings_from_request

Write = Callable[[str, str], Path]

SPANS = "EU B-ORG\nrejects O\nGerman B-MISC\ncall O\n\nPeter B-PER\nBlackburn I-PER\n\n"
POS = "The DT\ncat NN\nsat VBD\n\n" * 8
CONLLU = "# text = hi\n" + "".join(f"{n}\tword\tword\tNOUN\tNN\t_\t0\troot\t_\t_\n" for n in range(1, 6)) + "\n"
TABLE = "text\tlabel\n" + "a good film\tpos\na bad film\tneg\n" * 5
SEMICOLONS = TABLE.replace("\t", ";")
SIGNS = "-\ta bad film\n-\ta long film\n+\ta good film\n" * 5
PROSE = [
    "Call me Ishmael. Some years ago; never mind how long.\nHaving little money,\nI went to sea.\nAnd so\non.\n" * 4,
    "The one came to the house; the other stayed behind.\n" * 8,
    "two words\nmore words\nlast words\nand so\n" * 10,
    "emma\nolivia\nava\nisabella\n" * 10,
    "def f(x):\n\treturn x\n\ndef g(y):\n\treturn y\n\nprint(1)\n" * 5,
    "The cat sat.\nThe dog ran.\n\nThe cow ate.\nThe hen slept.\n\n" * 10,
    "class A {\n" + "".join(f"\tint field{n} = {n};\n" for n in range(40)) + "}\n",
    "".join(f"\t\ta line {n} of a quotation\n" for n in range(20)),
    "".join(f"  {n}.\tan item {n} of a list\n" for n in range(20)),
    "-\tan item of a list\n-\tan item below it\n" * 10,
    "INSERT INTO t VALUES (1, 'a b');\nDELETE FROM t WHERE id = 1;\n" * 5,
    "",
]


def task_of(path: Path, said: list[str] | None = None, **short: str) -> str:
    return settings_from_request(path, {}, {}, short, log=(said if said is not None else []).append).task.name


@pytest.mark.parametrize(
    "content", [SPANS, SPANS.replace(" ", "\t"), SPANS.replace("-", "_"), SPANS.replace("\n", "\r\n"), CONLLU]
)
def test_span_tags_and_conllu_are_certain_and_said(write: Write, content: str):
    said: list[str] = []
    assert task_of(write("train.txt", content), said) == "tag"
    assert "the task is tag" in said[0]
    assert task_of(write("train.txt", content), task="language") == "language"


@pytest.mark.parametrize(
    ("content", "tasks"),
    [(POS, ["tag"]), (TABLE, ["classify"]), (SEMICOLONS, ["classify"]), (SIGNS, [])],
)
def test_other_columns_are_asked_about_with_a_command_for_every_answer(write: Write, content: str, tasks: list[str]):
    path = write("my train.txt", content)
    with pytest.raises(UsageError, match=r"of the lines of my train\.txt have") as error:
        task_of(path, validation="valid.txt")
    for task in (*tasks, "language"):
        command = shlex.join(["seqlab", "train", str(path), "--validation", "valid.txt", "--task", task])
        assert command in str(error.value)
        assert task_of(path, task=task) == task


def test_commands_for_a_table_without_a_header_name_columns_that_can_be_read(write: Write):
    from seqlab.data.examples.load import open_examples

    path = write("log.txt", "".join(f"{n}\t{('INFO', 'WARN')[n % 2]}\tline number {n}\n" for n in range(30)))
    with pytest.raises(UsageError) as error:
        task_of(path)
    for task, kind in {"classify": "labeled"}.items():
        [line] = [line for line in str(error.value).splitlines() if f"--task {task}" in line]
        columns = shlex.split(line.partition("#")[0])[-1].partition("=")[2]
        request = settings_from_request(path, {}, {"corpus.columns": json.loads(columns)}, {"task": task})
        example = open_examples(kind, request.corpus).splits["train"][0]  # pyright: ignore[reportArgumentType]
        assert example.input == "line number 0"


@pytest.mark.parametrize("content", PROSE)
def test_running_text_is_not_asked_about(write: Write, content: str):
    assert recognize_layout(write("my.txt", content)) is None


def test_words_of_a_conllu_file_are_read_whatever_its_name(write: Write):
    from seqlab.config import CorpusSettings
    from seqlab.data.examples.example import TaggedSentence
    from seqlab.data.examples.load import open_unsplit

    path = write("train.txt", CONLLU)
    example = open_unsplit("tagged", CorpusSettings(source=(str(path),))).splits["whole"][0]
    assert isinstance(example, TaggedSentence)
    assert example.words[0] == "word" and example.tags[0] == "NOUN"


def test_real_files(shared_data: Path, tmp_path: Path):
    for file, kind in {
        "wnut17/train.conll": "tagged",
        "ud-ewt/en_ewt-ud-dev.conllu": "conllu",
        "sst/dev.tsv": "table",
        "tiny-shakespeare/input.txt": None,
        "names/names.txt": None,
        "multi30k-en-de/train.en": None,
        "README.md": None,
    }.items():
        copy = tmp_path / "train.txt"
        copy.write_bytes((shared_data / file).read_bytes())
        layout = recognize_layout(copy)
        assert (layout and layout.kind) == kind, file


def test_only_all_lines_are_100_percent(write):
    layout = recognize_layout(write("a.txt", "a\tB-x\n\n" * 300 + "oops\n"))
    assert layout is not None and layout.reason.startswith("99% of the lines")


def test_the_entities_of_a_page_separate_nothing_and_its_tags_are_said(write: Write):
    page = "".join(f"<p>line {at} of a page &amp; caf&eacute;</p>\n" for at in range(40))
    path = write("page.html", page)
    assert recognize_layout(path) is None
    note = "read page.html as running text: tags and entities are part of it"
    assert open_corpus([str(path)]).fixes.source_notes == [note]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("text,label\n" + "an old film,good\n" * 9, "commas"),
        ("text,label\n" + '"old, and good",good\n' * 9, "commas"),
        ('text|label\n"a | b"|x\nplain|y\n"two\nlines"|x\n' + "plain|y\n" * 9, "vertical bars"),
        ("Well, yes\n" + "an old film,good\n" * 9, None),
        ("text,label\n" + "so it goes, and so on, and on\n" * 9, None),
        ("Smith\n" * 9, None),
        ("&nbsp;\n" * 9, None),
    ],
)
def test_a_line_of_names_above_fields_makes_a_table(write: Write, text: str, word: str | None) -> None:
    layout = recognize_layout(write("a.txt", text))
    assert (layout and layout.reason.partition("separated by ")[2]) == word
