"""Documents as they are read for search."""

from seqlab.data.documents.document import Document


def test_the_title_is_searched_with_the_text() -> None:
    assert Document("1", "It swims.", "The otter").with_title == "The otter\nIt swims."
    assert Document("1", "It swims.").with_title == "It swims."
