"""Architectures: one family per file, its settings beside it in a file that imports without torch."""
