"""Documents, and what is asked about them: reading, passages, collections with queries and judgments."""
