"""The plan of a comparison: what is requested, equal sizes, timings, steps and trials."""
