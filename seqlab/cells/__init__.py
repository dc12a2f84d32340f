"""Recurrent cells: one time step as equations, the plain time loop, and the fused kernels on the same weights."""
