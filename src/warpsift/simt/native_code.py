"""LLVM's text to machine code of this host: objects that can be kept in a file, and the addresses of their functions.

Code that is not Numba's own (`vector_machine/value_code.py`), or that is compiled better as one object than by Numba
function by function (`engine/core/jit.py`).
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

_numbers = itertools.count()
_kept_alive: list[Any] = []  # what holds the memory of code that was loaded


@functools.cache
def processor() -> str:
    """What decides the machine code beside its text."""
    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()} {llvm.llvm_version_info}"


@functools.cache
def host() -> Any:
    """LLVM's description of this host. Code refers to little but its own object, so that short addresses are enough."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=3, reloc="pic", codemodel="small"
    )


@functools.cache
def _linker() -> Any:
    # JITLink lays the parts of an object side by side, within reach of short addresses.
    return llvm.create_lljit_compiler(host(), use_jit_link=os.name == "posix")


def object_of(module: Any, speed_level: int) -> bytes:
    """The machine code of a parsed module, optimised as a whole."""
    tuning = llvm.create_pipeline_tuning_options(speed_level=speed_level)
    tuning.loop_vectorization = True
    builder = llvm.create_pass_builder(host(), tuning)
    builder.getModulePassManager().run(module, builder)
    return host().emit_object(module)


def load_object(code: bytes, symbols: Sequence[str]) -> list[int]:
    """Load an object into this process for good; the addresses of some of its functions.

    From outside it may call what the compiler takes for granted, such as `memset`.
    """
    library = llvm.JITLibraryBuilder().add_current_process().add_object_img(code)
    for symbol in symbols:
        library.export_symbol(symbol)
    linked = library.link(_linker(), f"object {next(_numbers)}")
    _kept_alive.append(linked)
    return [linked[symbol] for symbol in symbols]


def write_whole(path: Path, content: bytes) -> None:
    """All of a file or nothing, whoever else writes it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)
