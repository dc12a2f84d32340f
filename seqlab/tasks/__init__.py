"""Tasks: examples to batches, a batch to its loss, a split to its scores. Every loss is computed here."""
