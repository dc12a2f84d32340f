"""Folders of tables or of tagged words: the files of a folder with tagged words are read together, tables are named."""

from pathlib import Path

from seqlab.data.examples.lines import COLUMNS, CONLLU, TEXT_TABLES, suffix
from seqlab.data.file_layout import FileLayout
from seqlab.data.file_names import name_files
from seqlab.data.files import InputFixes
from seqlab.data.folders import files_below, is_result, note_links
from seqlab.errors import DataError

TAGGED = (*COLUMNS, CONLLU)
DOCUMENTS = ("readme", "license", "licence", "copying", "citation", "changelog")  # that lie beside data


def unclear_folder(folder: Path) -> FileLayout | None:
    """What a folder has that is no running text; None if it is one, or if opening it says what it is."""
    files = [] if is_result(folder) else files_below(folder)
    files = [path for path in files if not is_document(path) and path.stat().st_size]  # Spark leaves an empty _SUCCESS
    if not files:
        return None
    names = name_files([*map(str, files)])
    if all(suffix(path) in TEXT_TABLES for path in files):
        return FileLayout("other", f"the folder '{folder}' has only tables: name those to read, of {names}")
    if all(suffix(path) in TAGGED for path in files):
        return FileLayout("tagged", f"the folder '{folder}' has only tagged words, by the suffixes of {names}")
    return None


def is_document(path: Path) -> bool:
    """Whether a file tells about the data beside it, by its name."""
    return path.suffix.lower() == ".md" or path.name.split(".")[0].casefold() in DOCUMENTS


def tagged_files(path: Path, fixes: InputFixes) -> list[Path]:
    """The files of tagged words of a folder and those below it, with a note on its other files; a file is itself."""
    if not path.is_dir():
        return [path]
    files = [] if is_result(path) else files_below(path, fixes)
    tagged = [file for file in files if suffix(file) in TAGGED]
    if not tagged:
        raise DataError(
            f"'{path}' is a folder, without files of tagged words in {', '.join(TAGGED)}. Name the file of examples."
        )
    fixes.left_out |= {str(file): "not the suffix of tagged words" for file in files if file not in tagged}
    note_links(tagged, fixes)
    return tagged
