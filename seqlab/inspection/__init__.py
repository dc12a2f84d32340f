"""Looking inside a run: one file for each view of a text, and the page that shows them."""
