"""Training: the loop, optimization, budgets, progress reports."""
