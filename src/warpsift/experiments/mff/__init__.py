"""The MFF paper's evaluation (DATE 2015, sections 4 and 6): one module per figure or number.

A module has `matrix(scale) -> list[Request]` and `figure(results, scale) -> Figure`.
"""

from warpsift.experiments.mff import area, caches, fig05, fig08, fig09, fig10, ladder, prices, traffic
from warpsift.experiments.mff.runs import GRAPHS

TITLE = "Memory fast-forward: a low-cost special function unit (DATE 2015)"
EXPERIMENTS = (fig05, fig10, fig08, prices, fig09, traffic, caches, ladder, area)

__all__ = ["EXPERIMENTS", "GRAPHS", "TITLE"]
