"""Runs the jobs of a comparison on worker processes: tuning trials, training runs, scoring."""
