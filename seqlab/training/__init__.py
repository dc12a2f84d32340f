"""Training: the loop, optimisation, and what a person sees of it."""
