"""How the engine holds its state: records at fixed addresses, read and written in place.

Every component owns one *record* (its configuration, its counters, the addresses of its tables) and some
*tables* (arrays of records, or of int64). The root record `S` holds the simulated time; behind it, in the same block of
memory and at distances known when the code is compiled, lie the records of the components. `S` is the only thing handed
from function to function: Numba counts references to arrays, and passing them costs more than the model itself. Records
and rows are reached through typed accessors,

    dram = component("dram", DRAM)       # once, at module level
    channel = accessor(CHANNEL)
    D = dram(S)                          # inside a compiled function: references, to which fields are written in place
    c = channel(D.p_channels, 3)

Geometry is data, so changing a machine compiles nothing. With NUMBA_DISABLE_JIT=1 the same sources run as
plain Python on the same memory (rows are then np.record views), so a breakpoint inside the L2 works.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from warpsift.engine.core.jit import JIT_ENABLED
from warpsift.engine.core.settings import record_type

FOREVER = 1 << 62  # a time that never comes
# Tables begin at a line of the host's cache, and the records that are touched most fit one: the model is larger than
# the host's first caches, so its speed is a matter of how many of their lines it touches.
HOST_LINE_BYTES = 64

# Names of the component records, in the order in which they lie behind the root; those of special units follow.
COMPONENTS = ("wheel", "sampler", "sockets", "sm", "l1", "noc", "l2", "dram")
UNIT_SOCKETS = 16  # units that one process may know
COMPONENT_BYTES = 19 * HOST_LINE_BYTES  # room for each; odd, so that they do not compete for the same sets of a cache

ROOT = np.dtype(
    [
        ("now", np.int64),  # core cycle
        ("error", np.int64),  # 0, or an ERROR_ code (checks.py says what it means): the run stops after this cycle
        ("error_where", np.int64),  # which unit of the component
        ("checks", np.int64),  # 1: conservation checks on (test mode)
        ("p_arrays", np.int64),  # table of arrays.py
        ("address", np.int64),  # of this record
    ],
    align=True,
)
S_t = numba.from_dtype(ROOT)
assert ROOT.itemsize <= HOST_LINE_BYTES

# Arrays by address, so that plain Python finds the memory behind an address. Emptied by Arena.close.
views: dict[int, np.ndarray] = {}


def accessor(dtype: np.dtype) -> Any:
    """A function (address of a table, index) -> reference to that row, usable inside compiled functions."""
    if not JIT_ENABLED:
        return lambda address, index: views[int(address)][index]
    record_type = numba.from_dtype(dtype)
    itemsize = dtype.itemsize

    @intrinsic
    def row(typing_context, address, index):
        def codegen(context, builder, signature, arguments):
            base, position = arguments
            offset = builder.mul(position, context.get_constant(types.int64, itemsize))
            return builder.inttoptr(builder.add(base, offset), context.get_value_type(record_type))

        return record_type(types.int64, types.int64), codegen

    return row


def component_offset(name: str) -> int:
    """Distance of a component's record from the root."""
    return HOST_LINE_BYTES + COMPONENTS.index(name) * COMPONENT_BYTES


def unit_offset(socket: int) -> int:
    """Distance of the record of the unit in a socket from the root."""
    if not 0 <= socket < UNIT_SOCKETS:
        raise ValueError(f"socket {socket}: there are {UNIT_SOCKETS}")
    return HOST_LINE_BYTES + (len(COMPONENTS) + socket) * COMPONENT_BYTES


def component(name: str, dtype: np.dtype) -> Any:
    """A function (root) -> reference to the component's record, usable inside compiled functions."""
    return _record_at(component_offset(name), dtype, record_type(name, dtype))


def unit_component(socket: int, dtype: np.dtype) -> Any:
    """The same for the record of a special unit in a socket."""
    return _record_at(unit_offset(socket), dtype, numba.from_dtype(dtype))


def _record_at(offset: int, dtype: np.dtype, record_type: Any) -> Any:
    if dtype.itemsize > COMPONENT_BYTES:
        raise ValueError(f"a record has {dtype.itemsize} bytes and room for {COMPONENT_BYTES}; raise COMPONENT_BYTES")
    if not JIT_ENABLED:
        return lambda S: views[int(S.address) + offset][0]

    @intrinsic
    def record(typing_context, S):
        def codegen(context, builder, signature, arguments):
            root = builder.ptrtoint(arguments[0], cgutils.intp_t)
            where = builder.add(root, context.get_constant(types.int64, offset))
            return builder.inttoptr(where, context.get_value_type(record_type))

        return record_type(S_t), codegen

    return record


class Arena:
    """The memory of one engine: allocates records and tables, keeps them alive, and shows them by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.table("block", np.uint8, HOST_LINE_BYTES + (len(COMPONENTS) + UNIT_SOCKETS) * COMPONENT_BYTES)
        root = self.arrays["block"][: ROOT.itemsize].view(ROOT).view(np.recarray)
        self.root: Any = root[0]
        self.root.address = root.ctypes.data

    def table(self, name: str, dtype: Any, rows: int) -> int:
        """Allocate a zeroed table and return its address."""
        if name in self.arrays:
            raise ValueError(f"engine table {name!r} is allocated twice")
        bytes_needed = max(int(rows), 1) * np.dtype(dtype).itemsize
        room = np.zeros(bytes_needed + HOST_LINE_BYTES, np.uint8)
        skipped = -room.ctypes.data % HOST_LINE_BYTES
        return self.adopt(name, room[skipped : skipped + bytes_needed].view(dtype))

    def adopt(self, name: str, array: np.ndarray) -> int:
        """Keep an existing contiguous array alive under a name and return its address."""
        array = np.ascontiguousarray(array)
        view = array.view(np.recarray) if array.dtype.names else array
        self.arrays[name] = view
        address = int(array.ctypes.data)
        if not JIT_ENABLED:  # compiled code needs no views, and they would keep an engine's memory after its end
            views[address] = view
        return address

    def release(self, name: str) -> None:
        """Forget one table (a consumed chunk of the stream)."""
        array = self.arrays.pop(name)
        views.pop(int(array.ctypes.data), None)

    def record(self, name: str, dtype: np.dtype) -> Any:
        """The record of a component, for the host to fill in."""
        return self._record(name, component_offset(name), dtype)

    def unit_record(self, name: str, socket: int, dtype: np.dtype) -> Any:
        """The record of the unit in a socket."""
        return self._record(name, unit_offset(socket), dtype)

    def _record(self, name: str, offset: int, dtype: np.dtype) -> Any:
        self.adopt(name, self.arrays["block"][offset : offset + dtype.itemsize].view(dtype))
        return self.arrays[name][0]

    def close(self) -> None:
        for name in list(self.arrays):
            self.release(name)
