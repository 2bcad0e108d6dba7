"""Kernel traces of Accel-Sim: reading those that others made from CUDA programs, writing ours for them."""

from warpsift.traces.errors import TraceError
from warpsift.traces.header import Header, list_kernels
from warpsift.traces.reader import replay, replay_kernel
from warpsift.traces.writer import TraceWriter

__all__ = ["Header", "TraceError", "TraceWriter", "list_kernels", "replay", "replay_kernel"]
