"""SIMT kernels in NumPy style: one text computes the answer and produces the instruction stream."""

from warpsift.simt.collectives import CollectiveThreads as Threads
from warpsift.simt.counters import Counter, LaunchRecord, StreamCounters
from warpsift.simt.kernel import Gpu, Kernel, Residency, kernel
from warpsift.simt.memory import DeviceArray, DeviceMemory, DeviceMemoryError
from warpsift.simt.registers import KernelError, Register
from warpsift.simt.stream import Chunk, LaunchInfo, Sink

__all__ = [
    "Chunk",
    "Counter",
    "DeviceArray",
    "DeviceMemory",
    "DeviceMemoryError",
    "Gpu",
    "Kernel",
    "KernelError",
    "LaunchInfo",
    "LaunchRecord",
    "Register",
    "Residency",
    "Sink",
    "StreamCounters",
    "Threads",
    "kernel",
]
