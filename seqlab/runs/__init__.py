"""The run directory: one trained model and everything needed to use or continue it."""
