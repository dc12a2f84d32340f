"""seqlab: train, compare and look inside sequence models on your own text."""
