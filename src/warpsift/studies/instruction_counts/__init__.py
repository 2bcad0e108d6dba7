"""Instruction counts beside those of a CUDA compiler."""
