"""Generated corpora: each makes one weakness of an architecture visible, at a difficulty that can be chosen."""
