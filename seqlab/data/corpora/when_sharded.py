"""Whether a corpus is encoded into shards. Files of a folder that cannot be read are left out, and decide nothing."""

from pathlib import Path

from seqlab.config import CorpusSettings
from seqlab.data.corpora.find import recognize_source, why_left_out
from seqlab.data.corpora.source import form_and_packing, is_address
from seqlab.data.files import STANDARD_INPUT, InputFixes, existing_path
from seqlab.data.folders import files_below, is_result
from seqlab.errors import DataError, SeqlabError, StorageError
from seqlab.registry import CORPORA

MAX_IN_ONE_FILE = 256 << 20  # bytes as stored, of a text that is encoded into a single file


def is_sharded(settings: CorpusSettings) -> bool:
    """Whether a text is encoded into shards: as the setting says, else where it is in rows, packed by zstd, at an
    address, or large."""
    items = _items(settings)
    if settings.sharded is not None or any(item in CORPORA or item == STANDARD_INPUT for item in items):
        return bool(settings.sharded)
    if any(map(is_address, items)):
        return True
    paths = [path for item in items for path in _files(item)]
    if any(_why_unread(path, settings) is None for path in paths if _is_unlike_text(path)):
        return True
    if sum(path.stat().st_size for path in paths) <= MAX_IN_ONE_FILE:
        return False
    return sum(path.stat().st_size for path in paths if _why_unread(path, settings) is None) > MAX_IN_ONE_FILE


def unread_rows(settings: CorpusSettings) -> dict[str, str]:
    """Files of folders that are encoded into one file: those that only shards could hold, and why they are left out."""
    if settings.sharded is not None:
        return {}
    paths = [path for item in _items(settings) for path in _files(item) if _is_unlike_text(path)]
    reasons = {str(path): _why_unread(path, settings) for path in paths}
    return {name: why for name, why in reasons.items() if why is not None}


def has_rows(settings: CorpusSettings) -> bool:
    """Whether a corpus has rows, one of whose columns is the text."""
    items = _items(settings)
    names = [str(path) for item in items if not is_address(item) for path in _files(item)]
    return any(form_and_packing(name)[0] != "text" for name in (*names, *filter(is_address, items)))


def _items(settings: CorpusSettings) -> tuple[str, ...]:
    return *settings.source, *settings.validation, *settings.test


def _is_unlike_text(path: Path) -> bool:
    form, packing = form_and_packing(path.name)
    return form != "text" or packing == "zst"


def _why_unread(path: Path, settings: CorpusSettings) -> str | None:
    """Why a file is left out of a folder; None if it is read, or was given by its name: reading it says what is
    wrong."""
    if str(path) in _items(settings):
        return None
    try:
        recognize_source(str(path), settings.text_column, InputFixes())
    except DataError as error:
        return why_left_out(error)
    except StorageError:
        return None
    return None


def _files(item: str) -> list[Path]:
    """The files of an item that exist; opening it says what is wrong."""
    try:
        path = existing_path(item)
        if path is None or (path.is_dir() and is_result(path)):
            return []
        return files_below(path) if path.is_dir() else [path]
    except SeqlabError:
        return []
