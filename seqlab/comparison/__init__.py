"""Comparisons: one plan for several architectures and seeds, carried out on all cores, judged, and written up."""
