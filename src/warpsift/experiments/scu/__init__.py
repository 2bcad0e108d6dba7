"""The SCU paper's evaluation (ISCA 2019, section 6): one module per figure or table.

A module has `matrix(scale) -> list[Request]` and `figure(results, scale) -> Figure`.
"""

from warpsift.experiments.scu import area, fig01, fig09, fig10, fig11, fig12, fig13, ladder, prices, workload
from warpsift.experiments.scu.runs import GRAPHS

TITLE = "SCU: a GPU stream compaction unit for graph processing (ISCA 2019)"
EXPERIMENTS = (fig01, fig10, fig09, prices, fig11, workload, fig12, fig13, ladder, area)

__all__ = ["EXPERIMENTS", "GRAPHS", "TITLE"]
