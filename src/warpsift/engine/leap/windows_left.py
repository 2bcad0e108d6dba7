"""How long a launch goes on: where little is left, a leap would save little, and miss how warps come to their end."""

from __future__ import annotations

import numpy as np

from warpsift.engine.sm import sm_state


def windows_left(ctas_left: int, ctas_dispatched: int, opened: np.ndarray, closed: np.ndarray) -> float:
    """Windows like the last that half of the warps of a launch go on for.

    From the CTAs that are still to come and those that came in the window, or else from the warps when it was opened
    and when it was closed.
    """
    if ctas_left:
        return ctas_left / max(ctas_dispatched, 1)
    resident = (closed["state"] != sm_state.EMPTY) & (opened["state"] != sm_state.EMPTY)
    stayed = resident & (closed["age"] == opened["age"])
    if not stayed.any():
        return 0.0
    done = float(np.median(closed["pc"][stayed] - opened["pc"][stayed]))
    left = float(np.median(closed["end"][stayed] - closed["pc"][stayed]))
    return left / max(done, 1.0)
