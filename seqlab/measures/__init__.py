"""Measures: what a recipe records of each finished run besides its score."""
