"""The strings of a comparison's results, from corpora, models and file names, made safe to display."""

from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from seqlab.comparison.results import Results
from seqlab.pages import clean_text


def cleaned(results: Results) -> Results:
    """The same results with clean strings, keys of tables included."""
    return TypeAdapter(Results).validate_python(_clean(asdict(results)))


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value
