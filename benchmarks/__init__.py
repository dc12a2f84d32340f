"""Speed measured side by side with what one would use instead; every module prints ratios."""
