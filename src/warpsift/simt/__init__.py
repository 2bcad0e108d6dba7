"""SIMT kernels in NumPy style: one text computes the answer and produces the instruction stream."""

from warpsift.simt.collectives import CollectiveThreads as Threads
from warpsift.simt.gpu import Gpu, Kernel, Residency, kernel
from warpsift.simt.memory import DeviceArray, DeviceMemory, DeviceMemoryError
from warpsift.simt.registers import KernelError, Register
from warpsift.simt.stream import Chunk, LaunchInfo, Sink, UnitInfo, UnitOperation
from warpsift.simt.stream_counter import Counter, LaunchRecord, OperationRecord, StreamCounters

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
    "OperationRecord",
    "Register",
    "Residency",
    "Sink",
    "StreamCounters",
    "Threads",
    "UnitInfo",
    "UnitOperation",
    "kernel",
]
