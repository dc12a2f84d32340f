"""Metrics: from sums to numbers. No model, no decoding."""
