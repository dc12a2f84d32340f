"""The audit of a run: what can the model see, do all ways of running it agree, is the score honest?

Start with audit.py, which lists the checks. Every check runs the real model, task, tokenizer and splits.
"""
