"""Tags beside words, sentences or in another file: the printed command writes a word and its tag on each line."""

import subprocess
from pathlib import Path

import pytest

from seqlab.data.examples.conll import read_columns
from seqlab.data.examples.example import TaggedSentence
from seqlab.data.examples.parallel import read_parallel
from seqlab.data.files import InputFixes
from seqlab.data.task_inference import unclear_layout
from seqlab.data.text.forms import form_of_text
from seqlab.errors import DataError

BROWN = "The/at Fulton/np-tl Jury/nn-tl said/vbd ``/`` that/cs it's/pps+bez 1/2/cd ''/'' ./.\n\n"
WORDS, TAGS = "flights from New York", "O O B-city I-city"


def written(advice: str, folder: Path) -> list[TaggedSentence]:
    command = advice.partition("To learn to tag: ")[2].partition("; it leaves out")[0]
    subprocess.run(["bash", "-c", command], cwd=folder, check=True)
    read = [located.example for located in read_columns(folder / "new.conll", InputFixes())]
    assert all(isinstance(example, TaggedSentence) for example in read)
    return read


def test_tags_in_small_letters(write, tmp_path: Path) -> None:
    path = write("brown.txt", BROWN * 12)
    layout = unclear_layout([str(path)])
    assert layout is not None and "words with their tags, such as The/at. " in layout.reason
    sentences = written(layout.reason, tmp_path)
    assert len(sentences) == 12 and sentences[0].words[:2] == ("The", "Fulton") and sentences[0].words[7] == "1/2"
    assert sentences[0].tags == ("at", "np-tl", "nn-tl", "vbd", "``", "cs", "pps+bez", "cd", "''", ".")


def test_bars_before_tags_are_no_columns(write, tmp_path: Path) -> None:
    layout = unclear_layout([str(write("bars.txt", "Mary|NNP saw|VBD a|b|NN .|.\n" * 12))])
    assert layout is not None and "words with their tags, such as Mary|NNP. " in layout.reason
    assert written(layout.reason, tmp_path)[0] == TaggedSentence(("Mary", "saw", "a|b", "."), ("NNP", "VBD", "NN", "."))


@pytest.mark.parametrize(
    "text", ["".join(f"src/a{at} lib/b{at} and/or c/d{at}\n" for at in range(20)), "so it is\n" * 9]
)
def test_paths_are_no_words_with_tags(write, text: str) -> None:
    assert form_of_text(write("a.txt", text)) is None


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.iob"])
@pytest.mark.parametrize("ends", [False, True])
def test_a_sentence_and_its_tags_on_a_line(write, tmp_path: Path, name: str, ends: bool) -> None:
    line = f"BOS {WORDS} EOS\tO {TAGS} atis_flight\n" if ends else f"{WORDS}\t{TAGS}\r\n"
    path = write(name, line * 20)
    layout = unclear_layout([str(path)])
    with pytest.raises(
        DataError, match="a tag for each of its words; expected a word and its tag on a line"
    ) as refused:
        read_columns(path, InputFixes())
    for said in (layout.reason if layout else "", str(refused.value)) if name != "a.iob" else [str(refused.value)]:
        assert ("leaves out BOS and EOS with their tags" in said) == ends
        sentences = written(said, tmp_path)
        (tmp_path / "new.conll").unlink()
        assert sentences == [TaggedSentence(tuple(WORDS.split()), tuple(TAGS.split()))] * 20


def test_other_pairs_on_a_line_are_no_tags(write) -> None:
    assert form_of_text(write("a.txt", "1 2 3\t3 2 1\n" * 9)) is None
    assert form_of_text(write("a.txt", "O no\tO non\n" * 9)) is None


def test_tags_in_another_file(write, tmp_path: Path) -> None:
    source, target = write("seq in.in", f"{WORDS}\n" * 20), write("seq.out", f"{TAGS}\n" * 20)
    fixes = InputFixes()
    read_parallel(source, target, fixes)
    (note,) = [note for note in fixes.notes() if "a tag for each word" in note]
    assert written(note, tmp_path) == [TaggedSentence(tuple(WORDS.split()), tuple(TAGS.split()))] * 20
    fixes = InputFixes()
    read_parallel(source, write("seq.de", "Flüge von New York\n" * 20), fixes)
    assert not any("tag" in note for note in fixes.notes())
