"""From finished runs to results: statistics, verdicts, costs, memorization, the fairness ledger."""
