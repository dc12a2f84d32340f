"""A package that extends seqlab by entry points alone: a tokenizer, two corpora, a task, a metric and a measure."""
