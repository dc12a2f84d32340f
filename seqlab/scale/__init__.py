"""Training on paper: time, energy, memory and layout on many devices, and losses extrapolated by a scaling law."""
