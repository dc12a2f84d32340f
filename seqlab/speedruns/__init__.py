"""seqlab speedrun: the best language model of a text within some minutes on this machine, everything counted.

The rules: one fixed recipe for each number of minutes, no choice of weights by validation, several seeds, each with a
clock of its own that runs from raw text to result. recipes/speedrun.toml has the recipes.
"""
