"""More text than memory: many files, packed or in rows, encoded in parallel into shards."""
