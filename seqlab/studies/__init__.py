"""Studies: every model of a recipe trained one after another, measured, recorded, and made into a page of results.

Read `run.py` first; `record.py` is what stays of a run, `page.py` what people read.
"""
