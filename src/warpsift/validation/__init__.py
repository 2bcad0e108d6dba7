"""Validation: the reference programs as warpsift kernels, and the comparison with trusted simulators' results."""
