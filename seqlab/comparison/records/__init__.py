"""Published results: compact records of finished comparisons, and the pages that are written from them.

Read `record.py` first; `overview.py` writes the page of all studies, `study.py` the page of one.
"""
