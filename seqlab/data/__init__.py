"""Data: corpora, their splits, token files, and batches as pure functions of (split, seed, index)."""
