"""Looks at a kernel's text before its first launch, for jumps that would leave a condition or a loop for every thread.

A kernel's Python runs once for all threads. `return`, `break` and `continue` are Python's own: under `t.where` they
jump for the threads outside of the condition too, and the answer is wrong without a word. So they are refused there,
in the kernel and in the functions and classes that it hands its `t` to. Under a plain Python `if`, which decides for
the whole launch, `return` and `continue` stay what they are.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

from warpsift.simt.registers import KernelError

CONDITIONS = ("where", "otherwise")
LOOPS = ("range", "loop_while")
_INSTEAD = {
    "return": "write 't.exit_where(condition)' at the outermost level of the kernel, or put the rest under "
    "'with t.otherwise(condition):'",
    "break": "carry the decision in a variable, 'going = t.var(1)', and write "
    "'for _ in t.loop_while(lambda: going == 1):'",
    "continue": "put the rest of the loop's body under 'with t.otherwise(condition):'",
}
_seen: weakref.WeakSet[Any] = weakref.WeakSet()


def check_kernel(function: Callable[..., Any]) -> None:
    """Raise `KernelError` for a jump that ends more than its text says; once per function."""
    waiting: list[Any] = [function]
    while waiting:
        candidate = waiting.pop()
        if candidate in _seen:
            continue
        tree = _tree(candidate)
        if tree is None:
            _seen.add(candidate)
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                _Jumps(candidate, node.name).look(node)
        if isinstance(candidate, FunctionType):
            waiting += _helpers(candidate, tree)
        _seen.add(candidate)


def _tree(candidate: Any) -> ast.Module | None:
    """The syntax tree, with the file's line numbers; None where Python has no source, say in code made by exec."""
    try:
        lines, start = inspect.getsourcelines(candidate)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):  # a lambda in the middle of an expression does not parse
        return None
    ast.increment_lineno(tree, start - 1)
    return tree


def _helpers(function: FunctionType, tree: ast.Module) -> Iterator[Any]:
    """Functions and classes that are called with the kernel's `t` among their arguments."""
    parameters = function.__code__.co_varnames[: function.__code__.co_argcount]
    if not parameters:
        return
    known = inspect.getclosurevars(function)
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if any(isinstance(each, ast.Name) and each.id == parameters[0] for each in given):
            found = known.globals.get(call.func.id, known.nonlocals.get(call.func.id))
            if isinstance(found, FunctionType) or inspect.isclass(found):
                yield found


def _call_of(node: ast.expr, names: tuple[str, ...]) -> str | None:
    """'t.where' for `t.where(...)`, if the method is one of `names`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
        return ast.unparse(node.func)
    return None


class _Jumps:
    """Walks one function with the conditions and loops around each statement in hand."""

    def __init__(self, owner: Any, name: str) -> None:
        file = inspect.getsourcefile(owner)
        self._file = Path(file).name if file else "?"
        self._name = name

    def look(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._block(function.body, [])

    def _block(self, statements: list[ast.stmt], around: list[tuple[str, str]]) -> None:
        for statement in statements:
            self._statement(statement, around)

    def _statement(self, node: ast.stmt, around: list[tuple[str, str]]) -> None:
        """`around`: what encloses the statement, outermost first, as (condition | loop | python loop, its text)."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return  # a text of its own, looked at apart
        if isinstance(node, ast.Return):
            self._refuse_if(node, "return", next((each for each in around if each[0] != "python loop"), None))
        elif isinstance(node, (ast.Break, ast.Continue)):
            self._jump(node, around)
        inner = around
        if isinstance(node, ast.With):
            texts = [_call_of(item.context_expr, CONDITIONS) for item in node.items]
            inner = [*around, *(("condition", text) for text in texts if text)]
        elif isinstance(node, (ast.For, ast.While)):
            text = _call_of(node.iter, LOOPS) if isinstance(node, ast.For) else None
            inner = [*around, ("loop", text) if text else ("python loop", "")]
            self._block(node.orelse, around)
        for block in ("body", "handlers", "finalbody", *(() if inner is not around else ("orelse",))):
            for child in getattr(node, block, []):
                if isinstance(child, ast.stmt):
                    self._statement(child, inner)
                elif isinstance(child, ast.ExceptHandler):
                    self._block(child.body, inner)
        for case in getattr(node, "cases", []):
            self._block(case.body, inner)

    def _jump(self, node: ast.Break | ast.Continue, around: list[tuple[str, str]]) -> None:
        """`break` and `continue` concern what lies between them and the nearest loop; `break` the loop itself too."""
        word = "break" if isinstance(node, ast.Break) else "continue"
        for kind, text in reversed(around):
            if kind == "condition" or (kind == "loop" and word == "break"):
                self._refuse_if(node, word, (kind, text))
            if kind != "condition":
                return

    def _refuse_if(self, node: ast.stmt, word: str, inside: tuple[str, str] | None) -> None:
        if inside is None:
            return
        kind, text = inside
        place = f"'with {text}(...):'" if kind == "condition" else f"a '{text}' loop"
        ends = {"return": "end the kernel", "break": "end the loop", "continue": "skip the rest of the loop's body"}[
            word
        ]
        raise KernelError(
            f"{self._file}, line {node.lineno}, in {self._name}: '{word}' inside {place} would {ends} for all "
            f"threads, also those for which the condition does not hold; {_INSTEAD[word]}"
        )
