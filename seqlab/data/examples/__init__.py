"""Labeled examples: files to examples, splits, encoded examples and their batches."""
