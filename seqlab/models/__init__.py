"""Models: an embedding, a backbone and a head."""
