"""What is searched and what is asked: documents, queries, and which documents answer which query."""

from collections.abc import Mapping
from dataclasses import dataclass

Qrels = Mapping[str, Mapping[str, int]]  # query id -> document id -> relevance; above 0 is relevant


@dataclass(frozen=True)
class Document:
    """A text with a name that is unique among the documents it is searched with."""

    id: str
    text: str
    title: str = ""

    @property
    def with_title(self) -> str:
        """What is read for search: the title, where there is one, and below it the text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True)
class Query:
    """A question or a few words, with a name that is unique among the queries."""

    id: str
    text: str


def relevant_documents(judged: Mapping[str, int]) -> list[str]:
    return [document for document, relevance in judged.items() if relevance > 0]
