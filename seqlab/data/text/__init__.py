"""Running text: corpora, splits, token files and batches."""
