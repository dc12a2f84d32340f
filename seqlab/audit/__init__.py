"""The audit of a run: does the model know only what it may, do all ways of running it agree, is the score honest.

Start with audit.py, which lists the checks. Every check is a function of the real model, task, tokenizer or split.
"""
