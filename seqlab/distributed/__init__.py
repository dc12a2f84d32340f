"""One computation on several processes: who takes part, which rows a process takes, sums over all of them."""
