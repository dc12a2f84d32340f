"""Mixing with counts: a network and the n-grams of its training text predict together.

gram_table.py holds the counts in the form of a lookup, mixture.py puts both predictions together, fit.py finds the
weights. The estimates themselves are those of baselines/kneser_ney.py.
"""
