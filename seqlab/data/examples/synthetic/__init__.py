"""Generated corpora: each exposes one weakness of an architecture, at a difficulty of your choice."""
