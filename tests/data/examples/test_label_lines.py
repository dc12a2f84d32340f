"""Labels of fastText: words that begin with __label__, wherever they stand in a line."""

import pytest

from seqlab.config import CorpusSettings
from seqlab.data.examples.inputs import read_inputs
from seqlab.data.examples.label_lines import read_label_lines
from seqlab.data.examples.load import open_examples
from seqlab.data.files import InputFixes
from seqlab.data.task_inference import infer_task
from seqlab.errors import DataError


@pytest.mark.parametrize(
    "line", ["__label__{} a film {}", "a film {1} __label__{0}", "a __label__{} film {}", "a film {1}\t__label__{0} "]
)
def test_labels_are_no_part_of_the_text(write, line):
    path = write("a.txt", "".join(line.format("pn"[at % 2], at) + "\n" for at in range(20)))
    examples = [located.example for located in read_label_lines(path, InputFixes())]
    assert [(example.text, example.label) for example in examples] == [
        (f"a film {at}", "pn"[at % 2]) for at in range(20)
    ]
    assert [*read_inputs("labeled", path, None, InputFixes()).values()] == [example.text for example in examples]
    task = infer_task([str(path)])
    assert task is not None and task.name == "classify"


def test_a_second_label_at_the_end_of_a_line_is_counted(write):
    lines = "".join(f"__label__{'pn'[at % 2]} a film {at}{' __label__old' * (at < 3)}\n" for at in range(20))
    fixes = InputFixes()
    labels = [located.example.label for located in read_label_lines(write("a.txt", lines), fixes)]
    assert labels[:4] == ["p,old", "n,old", "p,old", "n"]
    assert [note for note in fixes.notes() if "3 lines with several labels" in note]


def test_a_word_that_holds_the_mark_is_no_label(write):
    path = write("a.txt", "__label__p see my__label__x there\n__label__n no\n")
    assert read_label_lines(path, InputFixes())[0].example.text == "see my__label__x there"


def test_lines_without_a_label_are_counted(write):
    lines = "".join(f"{'' if at % 9 == 0 else '__label__' + 'pn'[at % 2]} a film {at}\n" for at in range(60))
    path = write("a.txt", lines)
    task = infer_task([str(path)])
    assert task is not None and task.name == "classify"
    settings = CorpusSettings(source=(str(path),), split_ratios="90/10", skip_limit=0.2)
    examples = open_examples("labeled", settings)
    assert sum(map(len, examples.splits.values())) == 53
    assert [note for note in examples.notes if "skipped 7 of the 60 lines" in note and "no label" in note]
    with pytest.raises(DataError, match="no label"):
        open_examples("labeled", settings.model_copy(update={"skip_limit": 0.1}))
