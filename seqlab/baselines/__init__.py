"""Baselines without gradient descent: n-grams, compression, naive Bayes, frequent tags, a dictionary."""
