"""Settings: fields of the components' records that stay as they are while a machine runs.

A record's dtype marks them:

    L2 = np.dtype([("ways", SETTING), ("cycle", np.int64), ...])
    l2 = component("l2", L2)             # arena.py

Compiled code may read a setting and not write it. It asks a function of the component, `symbol`, where the settings
lie. There are two texts of that function, and the linker takes one (`one_object.py`):

- In the engine that runs every machine they lie in the record itself, and geometry is data.
- In the engine of one machine they are constants. What the machine lacks is then no code, divisions are by numbers that
  the compiler knows, and the rest has fewer loads. Counters are the same; it takes an eighth less time.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import lower_getattr_generic, lower_setattr_generic, register_model, typeof_impl
from numba.np.arrayobj import record_getattr, record_setattr
from numba.np.numpy_support import map_arrayscalar_type

from warpsift.simt.native_code import host, load_object, object_of

SETTING = np.dtype(np.int64, metadata={"setting": True})

COMPONENTS = ("sm", "l1", "noc", "l2", "dram")  # those whose records have settings

Values = Mapping[str, bytes]  # of every component: `settings_alone`


def settings_in(dtype: np.dtype) -> frozenset[str]:
    """The fields of a record that are settings."""
    fields: Mapping[str, Any] = dtype.fields or {}
    return frozenset(name for name in fields if (fields[name][0].metadata or {}).get("setting"))


def settings_alone(record: Any, dtype: np.dtype) -> bytes:
    """The bytes of a record with 0 for everything that is no setting."""
    alone = np.zeros(1, dtype)
    for name in settings_in(dtype):
        alone[name] = record[name]
    return alone.tobytes()


def symbol(component: str) -> str:
    """The function that says where the settings of a component lie: given the record, it answers an address."""
    return f"warpsift_settings_{component}"


class ComponentRecord(types.Record):
    """The type of a component's record in compiled code."""

    def __init__(self, component: str, dtype: np.dtype) -> None:
        plain: Any = numba.from_dtype(dtype)
        fields: Any = [(name, {"type": f.type, "offset": f.offset}) for name, f in plain.fields.items()]
        super().__init__(fields, plain.size, plain.aligned)
        self.component = component
        self.settings = settings_in(dtype)
        self.name = f"record of component {component}"


register_model(ComponentRecord)(models.RecordModel)
_by_fields: dict[tuple[str, ...], Any] = {}


def record_type(component: str, dtype: np.dtype) -> Any:
    """The type of a component's record in compiled code; a plain one if it has no settings."""
    if not settings_in(dtype):
        return numba.from_dtype(dtype)
    return _by_fields.setdefault(dtype.names or (), ComponentRecord(component, dtype))


@typeof_impl.register(np.record)
def _type_of(value: np.record, context: Any) -> Any:
    """A component's record that Python hands to a compiled function, as tests of single functions do."""
    return _by_fields.get(value.dtype.names or ()) or map_arrayscalar_type(value)  # type: ignore[call-overload]


@lower_getattr_generic(ComponentRecord)
def _read(context, builder, kind, value, field):
    if field in kind.settings:
        byte = cgutils.voidptr_t
        where = cgutils.get_or_insert_function(builder.module, ir.FunctionType(byte, [byte]), symbol(kind.component))
        for promise in ("readnone", "nounwind"):
            where.attributes.add(promise)
        value = builder.bitcast(builder.call(where, [builder.bitcast(value, byte)]), value.type)
    return record_getattr(context, builder, kind, value, field)


@lower_setattr_generic(ComponentRecord)
def _write(context, builder, signature, arguments, field):
    kind = signature.args[0]
    if field in kind.settings:
        raise TypeError(f"{field!r} is a setting of component {kind.component!r}: compiled code cannot write it")
    record_setattr(context, builder, signature, arguments, field)


def definitions(values: Values | None = None) -> str:
    """LLVM's text of the functions: the record itself, or with `values` a constant of the module."""
    module = ir.Module("settings")
    module.triple, module.data_layout = llvm.get_process_triple(), str(host().target_data)
    byte = cgutils.voidptr_t
    for component in COMPONENTS:
        function = ir.Function(module, ir.FunctionType(byte, [byte]), symbol(component))
        builder = ir.IRBuilder(function.append_basic_block())
        where = function.args[0]
        if values is not None:
            words = np.frombuffer(values[component], np.int64).tolist()
            kind = ir.ArrayType(ir.IntType(64), len(words))
            constant = ir.GlobalVariable(module, kind, f"{symbol(component)}_values")
            constant.global_constant, constant.initializer = True, ir.Constant(kind, words)
            where = builder.bitcast(constant, byte)
        builder.ret(where)
    return str(module)


@functools.cache
def known_to_numba() -> None:
    """Numba links every function that it compiles for itself too: there, settings lie in the record."""
    code = object_of(llvm.parse_assembly(definitions()), speed_level=1)
    names = [symbol(component) for component in COMPONENTS]
    for name, address in zip(names, load_object(code, names), strict=True):
        llvm.add_symbol(name, address)
