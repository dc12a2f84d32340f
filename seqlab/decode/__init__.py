"""Decoding: from logits to tokens. Start with generate.py for sampling and with beam.py for beam search."""
