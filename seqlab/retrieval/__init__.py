"""Search: vectors of texts, an index of documents, and what it finds for a query."""
