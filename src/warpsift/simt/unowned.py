"""Arrays without an owner, for compiled functions that hand arrays on by the million.

Numba counts who uses an array, with an atomic instruction each time one is passed or sliced: up to a sixth of the time
that recording takes. An array without an owner is not counted. The function that makes it must be given the array by
its caller, who keeps it alive; of an array of its own it would outlive the memory.
"""

from __future__ import annotations

from typing import Any

import numba
from numba.extending import intrinsic


@intrinsic
def _without_owner(typing_context: Any, array: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        view.meminfo = view.meminfo.type(None)
        view.parent = view.parent.type(None)
        return view._getvalue()

    return array(array), codegen


# unowned(array): the same memory, for as long as the caller keeps `array`; plain Python without the JIT.
unowned: Any = (lambda array: array) if numba.config.DISABLE_JIT else _without_owner  # type: ignore[attr-defined]
