"""The SCU paper's evaluation (ISCA 2019, section 6): one module per figure or table.

A module has `matrix(scale) -> list[Request]` and `figure(results, scale) -> Figure`.
"""

from warpsift.studies.scu import scu_area_figure as area
from warpsift.studies.scu import scu_fig01 as fig01
from warpsift.studies.scu import scu_fig09 as fig09
from warpsift.studies.scu import scu_fig10 as fig10
from warpsift.studies.scu import scu_fig11 as fig11
from warpsift.studies.scu import scu_fig12 as fig12
from warpsift.studies.scu import scu_fig13 as fig13
from warpsift.studies.scu import scu_ladder as ladder
from warpsift.studies.scu import scu_prices as prices
from warpsift.studies.scu import scu_waterfall as waterfall
from warpsift.studies.scu import scu_workload as workload
from warpsift.studies.scu.scu_runs import GRAPHS

TITLE = "SCU: a GPU stream compaction unit for graph processing (ISCA 2019)"
EXPERIMENTS = (waterfall, fig01, fig10, fig09, prices, fig11, workload, fig12, fig13, ladder, area)

__all__ = ["EXPERIMENTS", "GRAPHS", "TITLE"]
