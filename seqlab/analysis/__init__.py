"""Analysis of a text before training: faults, overlap between the splits, suggested settings."""
