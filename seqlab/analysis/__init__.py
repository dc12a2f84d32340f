"""Analysis: what a trained model does with a text, and what a text is like before anything is trained on it."""
