"""Validation against GPGPU-Sim 4.2: the same kernels on the same inputs, on the machines that it was run with."""
