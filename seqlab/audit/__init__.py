"""The audit of a run: what the model can see, whether all ways of running it agree, whether its score is honest.

Start with audit.py, which lists the checks. Every check runs the real model, task, tokenizer and splits.
"""
