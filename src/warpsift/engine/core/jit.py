"""How functions of the engine are compiled: declared with their types, compiled when an entry point needs them.

    @compiled(i64, S_t, i64)             # a function that other compiled functions call
    def l2_full(S, slice_index): ...

    @entry("the timing engine", i64, S_t, i64, i64)
    def run(S, final, pause_at): ...     # Python calls it; when first called it is compiled with all that it calls

    @callback("the memory fast-forward unit")
    def mff_calls(S, what, a, b): ...    # called by compiled code through its address (engine/unit_socket.py)

With NUMBA_DISABLE_JIT=1 the same sources run as plain Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numba
from numba import types
from numba.extending import typeof_impl

from warpsift.engine.core import compiled_code
from warpsift.engine.core.one_object import linked_once, one_object
from warpsift.engine.core.settings import Values, definitions, known_to_numba
from warpsift.simt.native_code import load_object, write_whole

JIT_ENABLED: bool = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
INLINED_BYTECODE = 400  # functions of up to this much are inlined whatever the compiler thinks of it
OF_MACHINE = ".of."  # between its name and what settings it knows, in the name of an object for them alone
ENTRY = "entry"  # the name of an entry point in its object
RAISED = -(1 << 63)  # what it answers where Python would have raised
JIT_OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": False, "no_cfunc_wrapper": True}
INNER_OPTIONS = {**JIT_OPTIONS, "no_cpython_wrapper": True}

i64 = types.int64
void = types.void


class Inner:
    """A kernel that other kernels call. It has no wrapper for Python, and calling it from there must not crash."""

    def __init__(self, dispatcher: Any, signature: tuple[Any, ...]) -> None:
        self.dispatcher = dispatcher
        self.signature = signature  # result, arguments

    def __call__(self, *arguments: Any) -> Any:
        name = self.dispatcher.py_func.__name__
        raise TypeError(f"{name} is called by other kernels; from Python write from_python({name})(...)")


@typeof_impl.register(Inner)
def _typeof_inner(value: Inner, context: Any) -> Any:
    return types.Dispatcher(value.dispatcher)


def compiled(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function of the engine, for other functions of the engine to call; plain Python without the JIT.

    It is compiled for the signature given here, so that nothing is compiled for types that a literal happens to have,
    and only when an entry point needs it. It has no wrapper for Python: those take a sixth of the compiler's time.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not JIT_ENABLED:
            return function
        short = len(function.__code__.co_code) <= INLINED_BYTECODE
        return Inner(numba.njit(forceinline=short, **INNER_OPTIONS)(function), (result, *arguments))

    return decorate


def _callees(function: Callable[..., Any], seen: set[int]) -> Iterator[Inner]:
    """The compiled functions that one calls, directly or not, callees first."""
    names = [*function.__code__.co_names, *(c for c in function.__code__.co_freevars)]
    for name in names:
        found = function.__globals__.get(name)
        if isinstance(found, Inner) and id(found) not in seen:
            seen.add(id(found))
            yield from _callees(found.dispatcher.py_func, seen)
            yield found


def _compile_callees(function: Callable[..., Any], step: Callable[[], None]) -> None:
    for callee in _callees(function, set()):
        if callee.dispatcher.nopython_signatures:
            continue
        callee.dispatcher.compile(callee.signature[1:])
        callee.dispatcher.disable_compile()  # narrow fields of records are widened to its arguments
        step()


class Native:
    """Compiled code that is called by its address: with the address of the engine's state and whole numbers.

    Found in the cache or made, and loaded, when first wanted. Python's lock is let go while it runs.
    """

    def __init__(self, part: str, kept: Path, arguments: tuple[Any, ...], make: Callable[[], bytes]) -> None:
        self.name, self._part, self._kept, self._arguments, self._make = kept.stem, part, kept, arguments, make
        self._by_address = [isinstance(kind, types.Record) for kind in arguments]
        self.compiled_here = False  # by this process; else found in the cache, or not yet wanted

    @functools.cached_property
    def _code(self) -> bytes:
        with contextlib.suppress(OSError):
            return self._kept.read_bytes()
        code, self.compiled_here = self._make(), True
        with contextlib.suppress(OSError):
            write_whole(self._kept, code)
        return code

    @functools.cached_property
    def address(self) -> int:
        return load_object(self._code, [ENTRY])[0]

    @functools.cached_property
    def _function(self) -> Callable[..., int]:
        kinds = [ctypes.c_void_p if by_address else ctypes.c_int64 for by_address in self._by_address]
        return ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(self.address)

    def __call__(self, *arguments: Any) -> int:
        pairs = zip(arguments, self._by_address, strict=True)
        answer = self._function(*(int(a.address) if by_address else int(a) for a, by_address in pairs))
        if answer == RAISED:
            raise RuntimeError(f"{self.name}: compiled code met an error of Python's, such as range() with a step of 0")
        return answer

    def of_machine(self, values: Values, make: bool) -> Native | None:
        """The same for machines with these settings alone, if it is kept; else made, or None."""
        part = f"{self._part} for this machine"
        digest = hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:16]
        kept = self._kept.with_name(f"{self.name}{OF_MACHINE}{digest}.o")
        bitcode = self._kept.with_suffix(".bc")

        def known() -> bytes:
            with compiled_code.compiling(part) as step:
                code = one_object(bitcode.read_bytes(), ENTRY, definitions(values))
                step()
            compiled_code.keep_newest(kept.parent, f"{self.name}{OF_MACHINE}*.o")
            return code

        # Without a cache there is no bitcode: then the code for every machine will do.
        return Native(part, kept, self._arguments, known) if kept.exists() or (make and bitcode.exists()) else None


def ready(*entries: Any) -> None:
    """Compile these entry points now, if they never were: who makes something that will call them says so here."""
    for entry_point in entries:
        if isinstance(entry_point, Native):
            _ = entry_point.address


def _native(
    part: str, function: Callable[..., Any], own: tuple[Path, str] | None, arguments: tuple[Any, ...]
) -> Native:
    """A function, to be compiled with all that it calls if it is not in the cache."""
    kept = compiled_code.folder(own) / f"{function.__module__}.{function.__name__}.o"

    def compiled_whole() -> bytes:
        known_to_numba()
        with compiled_code.compiling(part) as step:
            _compile_callees(function, step)
            dispatcher = numba.njit(**INNER_OPTIONS)(function)
            dispatcher.compile(arguments)
            step()
            bitcode = linked_once(dispatcher.overloads[arguments], ENTRY, RAISED)
            code = one_object(bitcode, ENTRY, definitions())
        with contextlib.suppress(OSError):
            write_whole(kept.with_suffix(".bc"), bitcode)
        return code

    return Native(part, kept, arguments, compiled_whole)


def entry(part: str, result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a function that Python calls: compiled with all that it calls, or found, when it is first wanted.

    Only entry points are kept in the cache, since each brings along what it calls. `part` is what the progress line
    says is being compiled.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _native(part, function, None, arguments) if JIT_ENABLED else function

    return decorate


def callback(part: str, key: str, result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function that compiled code calls by its `.address`, with sources of its own beside the engine's.

    It is compiled apart from the engine, so that the engine is the same whoever is plugged in. `key` is what beside the
    sources decides its code.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if not JIT_ENABLED:
            return PlainCallback(function)
        return _native(part, function, (Path(function.__code__.co_filename).parent, key), arguments)

    return decorate


class PlainCallback:
    """A callback without the JIT: its address is a number under which plain Python finds it."""

    by_address: ClassVar[dict[int, Callable[..., Any]]] = {}

    def __init__(self, function: Callable[..., Any]) -> None:
        self.address = id(function)
        self.by_address[self.address] = function


def from_python(function: Any) -> Callable[..., Any]:
    """A compiled function made callable from Python, for tests: compiled, with what it calls, when first called."""
    if not JIT_ENABLED:
        return function
    known_to_numba()
    with compiled_code.directory():
        return numba.njit(cache=True, **JIT_OPTIONS)(function.dispatcher.py_func)
