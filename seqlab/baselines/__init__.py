"""The floors that a neural model has to beat: counting and compression. Start at floors.py."""
