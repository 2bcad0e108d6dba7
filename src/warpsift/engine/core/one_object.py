"""An entry point and all that it calls as one object: what Numba has compiled, linked once more as a whole.

Numba's own linker gives every function that is not inlined a page of its own, wherever there is one. The beginnings of
all of them then compete for the same sets of the host's instruction cache, calls go through a register, and every
caller tests a status that its callee never sets. So LLVM's text is taken from Numba, all functions but the entry point
are made known to nobody outside, and it is optimised and laid out once more. The engine takes a tenth less time, and a
fifth in a process that has compiled it itself.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from warpsift.simt.native_code import host, object_of

NUMBER, STATUS, POINTER = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()


def linked_once(compiled: Any, name: str, raised: int) -> bytes:
    """The bitcode of a function that Numba has compiled, with a C function `name` of the same arguments in front.

    Arguments are records, by address, and whole numbers. It answers a whole number; `raised` where Numba's function
    would have raised an exception.
    """
    symbol = compiled.fndesc.mangled_name
    module = llvm.parse_assembly(compiled.library.get_llvm_str())
    kinds = [str(argument.type) for argument in module.get_function(symbol).arguments]
    module.link_in(llvm.parse_assembly(_front(symbol, name, kinds, raised)))
    return bytes(module.as_bitcode())


def one_object(bitcode: bytes, name: str, settings: str) -> bytes:
    """The object of what was linked, with LLVM's text that says where settings are (`settings.definitions`)."""
    module = llvm.parse_bitcode(bitcode)
    module.link_in(llvm.parse_assembly(settings))
    for function in module.functions:
        if not function.is_declaration and function.name != name:
            function.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    return object_of(module, speed_level=3)


def _front(symbol: str, name: str, kinds: list[str], raised: int) -> str:
    """LLVM's text of the C function. Numba's takes places for result and exception, and answers a status."""
    own = [NUMBER if kind == "i64" else POINTER for kind in kinds[2:]]
    module = ir.Module("front")
    module.triple, module.data_layout = llvm.get_process_triple(), str(host().target_data)
    numbas = ir.Function(module, ir.FunctionType(STATUS, [POINTER, POINTER, *own]), symbol)
    front = ir.Function(module, ir.FunctionType(NUMBER, own), name)
    builder = ir.IRBuilder(front.append_basic_block())
    result, exception = builder.alloca(NUMBER), builder.alloca(NUMBER)
    for place in (result, exception):
        builder.store(NUMBER(0), place)
    places = [builder.bitcast(place, POINTER) for place in (result, exception)]
    status = builder.call(numbas, [*places, *front.args])
    fine = builder.icmp_signed("==", status, STATUS(0))
    builder.ret(builder.select(fine, builder.load(result), NUMBER(raised)))
    return str(module)
