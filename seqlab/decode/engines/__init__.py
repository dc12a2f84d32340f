"""Compiled engines: the texts of the plain loop, many times as fast. Start with compiled.py."""
