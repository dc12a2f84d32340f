"""A finished run in another form: fewer bits, other programs' files."""
