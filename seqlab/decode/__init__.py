"""Decoders: from a model's logits to tokens. Start with generate.py for text, with beam.py for the likeliest one."""
