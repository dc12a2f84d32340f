"""Tokenizers: text to numbers and back."""
