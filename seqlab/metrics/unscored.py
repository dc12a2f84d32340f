"""A mark that data and metrics share. Reading data needs nothing else of the metrics."""

UNSCORED = "_"  # the tag of a word that is not scored: CoNLL-U's mark for an unspecified value
