"""What settings take from data is said with its number: case, rare words, long lines, labels that a run lacks."""

from pathlib import Path
from typing import Any

import pytest

from seqlab.config import CorpusSettings, build_settings
from seqlab.data.examples.load import open_unsplit
from seqlab.errors import DataError
from seqlab.registry import TASKS
from seqlab.tasks.as_read import unknown_note
from seqlab.tasks.dataset import KeptNotes
from seqlab.tokenization.vocabulary import vocabulary_in_words


def opened(task: str, files: list[Path], *settings: tuple[str, Any], vocabulary: Any = None) -> tuple[Any, list[str]]:
    """The dataset, and what is said when it is opened and settings are fitted to it."""
    sections = {"task": {"name": task}, "corpus": {"source": [str(file) for file in files]}}
    resolved, said = build_settings(sections, list(settings)), KeptNotes(lambda _: None)
    dataset = TASKS.load(task).open_dataset(resolved, said, vocabulary)
    TASKS.load(task).fit_settings(resolved, dataset, said)
    return dataset, said.notes


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_inputs_that_lowercase_makes_equal_are_counted(tmp_path: Path) -> None:
    rows = [f"{word} w{number}\t{label}" for number in range(20) for word, label in (("Us", "land"), ("us", "we"))]
    _, said = opened("classify", [write(tmp_path / "a.tsv", ["text\tlabel", *rows])], ("tokenizer.lowercase", True))
    assert any("36 of 36 training inputs differ as texts and not as tokens" in note for note in said)
    assert any("36 of them have different answers" in note for note in said)
    assert any(note.startswith("18 of the ") and "read in lower case (tokenizer.lowercase)" in note for note in said)


def test_marks_that_a_word_tokenizer_cuts_are_said(tmp_path: Path) -> None:
    text = write(tmp_path / "ptb.txt", ["the <unk> of N <eos> has a < b <unk>"] * 100)
    words = ("tokenizer.name", "word")
    (note,) = [note for note in opened("language", [text], words)[1] if "<unk>" in note and "whole" in note]
    assert "'<unk>' (180 times) as 3 tokens, '<eos>' (90 times) as 3 tokens. --set tokenizer.split=spaces" in note
    dataset, said = opened("language", [text], words, ("tokenizer.split", "spaces"))
    assert not any("whole" in note for note in said)
    assert len(dataset.vocabulary.tokenizer.encode("<unk> <eos>")) == 2
    assert not any("whole" in note for note in opened("language", [text])[1])
    rows = write(tmp_path / "a.tsv", ["text\tlabel", *(f"<user|> says {at}\t{'ab'[at % 2]}" for at in range(40))])
    assert any("'<user|>' (36 times) as 4 tokens" in note for note in opened("classify", [rows], words)[1])


def test_a_label_of_rare_words_alone_is_named(tmp_path: Path) -> None:
    rows = [f"old stone {number % 2}\t{'ab'[number % 2]}" for number in range(40)]
    rows += [f"x{number}\tc" for number in range(20)]
    dataset, said = opened("classify", [write(tmp_path / "a.tsv", ["text\tlabel", *rows])], ("tokenizer.vocab_size", 4))
    assert any("of the tokens of the training examples" in note for note in said)
    assert any("(among them every example of the label 'c' (" in note for note in said)
    assert dataset.vocabulary.tokenizer.rarer > 0


def test_lost_spaces_and_capitals_of_a_text_are_counted(tmp_path: Path) -> None:
    text = write(tmp_path / "a.txt", ["The  cat sat ."] * 100)
    chosen = [("tokenizer.name", "word"), ("tokenizer.split", "spaces"), ("tokenizer.lowercase", True)]
    _, said = opened("language", [text], *chosen)
    [note] = [note for note in said if "bits per character leave out" in note]
    assert note.startswith("180 of the 1,350 characters of the training text")  # a capital and a space in each line
    assert any(note.startswith("90 words of the training text without a space before: ") for note in said)
    _, said = opened("language", [write(tmp_path / "b.txt", [" The cat sat ."] * 100)], *chosen)
    assert not any("before every word" in note for note in said)


def test_lines_that_a_window_cuts_and_tokens_that_a_mixture_keeps_are_counted(tmp_path: Path) -> None:
    text = write(tmp_path / "a.txt", ["abc", "abc " * 20] * 50)
    shape = [("corpus.documents", "lines"), ("task.window", 16), ("task.mix", "counts")]
    dataset, said = opened("language", [text], *shape)
    [cut] = [note for note in said if note.startswith("longer than the window of 16 tokens: ")]
    assert "of 90 training lines, " in cut and "of 10 validation lines" in cut
    assert any(
        f"of {len(dataset.splits['train']):,} training tokens are kept from the network" in note for note in said
    )


def test_targets_beyond_the_limit_and_both_vocabularies_are_said(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.en", [f"one two {n}" for n in range(40)]),
        write(tmp_path / "a.de", [f"eins zwei drei vier {n}" for n in range(40)]),
    ]
    chosen = [("tokenizer.name", "word"), ("task.shared_vocabulary", False), ("task.max_target_length", 3)]
    dataset, said = opened("translate", files, *chosen)
    assert any("longer than a translation may be" in note and "4 of 4 validation examples" in note for note in said)
    settings = build_settings({"corpus": {"source": ["x"]}}, [("tokenizer.name", "word")]).tokenizer.settings
    assert ", of targets word vocabulary of " in vocabulary_in_words(dataset.vocabulary, settings)


@pytest.mark.parametrize("task, name, line", [("classify", "a.tsv", "w{}\t{}"), ("tag", "a.conll", "w{} {}\n")])
def test_labels_that_the_run_of_init_lacks_are_refused(tmp_path: Path, task: str, name: str, line: str) -> None:
    header = ["text\tlabel"] if task == "classify" else []
    before = write(tmp_path / name, header + [line.format(n, "ab"[n % 2]) for n in range(40)])
    vocabulary = opened(task, [before])[0].vocabulary
    (tmp_path / "new").mkdir()
    new = write(tmp_path / "new" / name, header + [line.format(n, "abc"[n % 3]) for n in range(60)])
    with pytest.raises(DataError, match=r"that the run of --init does not have: 'c'.*It has 'a', 'b'"):
        opened(task, [new], vocabulary=vocabulary)


def test_labels_of_a_built_in_corpus_that_a_run_lacks_are_refused() -> None:
    corpus = CorpusSettings(source=("parity",))
    with pytest.raises(DataError, match="unknown tag"):
        open_unsplit("tagged", corpus, ("noun", "verb"))


def test_what_is_odd_or_unknown_in_documents_is_counted(tmp_path: Path) -> None:
    rows = [f"who is {at},{' '.join(f'w{at}n{word}' for word in range(9))} soft\u00adly" for at in range(40)]
    _, said = opened("embed", [write(tmp_path / "a.csv", ["query,document", *rows])], ("tokenizer.name", "word"))
    assert any("of the tokens of the documents of the validation examples" in note for note in said), said
    assert any(note.startswith("invisible characters: 40, ") for note in said)


def test_inputs_without_targets_have_none_that_are_unknown(tmp_path: Path) -> None:
    rows = [f"word{at} of it\tWORD{at} OF IT" for at in range(40)]
    files = [write(tmp_path / "a.tsv", ["source\ttarget", *rows])]
    dataset, said = opened("translate", files, ("tokenizer.name", "word"))
    assert any("target tokens" in note for note in said)
    task: Any = TASKS.load("translate")
    sections = {"task": {"name": "translate"}, "corpus": {"source": [str(files[0])]}}
    settings = build_settings(sections, [("tokenizer.name", "word")])
    split = task.encode(task.without_answers(["word1 of it"], dataset.vocabulary), dataset.vocabulary, settings)
    assert unknown_note({"given": split}, dataset.vocabulary) == ""
