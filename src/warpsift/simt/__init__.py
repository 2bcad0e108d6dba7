"""SIMT kernels in NumPy style: one text computes the answer and produces the instruction stream."""

from warpsift.simt.counters import Counter, LaunchRecord, OperationRecord, StreamCounters
from warpsift.simt.fast_forward import FastForward, Target
from warpsift.simt.fast_forward import FastForwardThreads as Threads
from warpsift.simt.kernel import Gpu, Kernel, Residency, kernel
from warpsift.simt.memory import DeviceArray, DeviceMemory, DeviceMemoryError
from warpsift.simt.registers import KernelError, Register
from warpsift.simt.stream import Chunk, LaunchInfo, Sink, UnitInfo, UnitOperation

__all__ = [
    "Chunk",
    "Counter",
    "DeviceArray",
    "DeviceMemory",
    "DeviceMemoryError",
    "FastForward",
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
    "Target",
    "Threads",
    "UnitInfo",
    "UnitOperation",
    "kernel",
]
