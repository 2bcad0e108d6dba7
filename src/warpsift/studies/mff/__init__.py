"""The MFF paper's evaluation (DATE 2015, sections 4 and 6): one module per figure or number.

A module has `matrix(scale) -> list[Request]` and `figure(results, scale) -> Figure`.
"""

from warpsift.run.request import Request
from warpsift.studies.mff import mff_area_figure as area
from warpsift.studies.mff import mff_caches as caches
from warpsift.studies.mff import mff_claims
from warpsift.studies.mff import mff_fig05 as fig05
from warpsift.studies.mff import mff_fig08 as fig08
from warpsift.studies.mff import mff_fig09 as fig09
from warpsift.studies.mff import mff_fig10 as fig10
from warpsift.studies.mff import mff_ladder as ladder
from warpsift.studies.mff import mff_prices as prices
from warpsift.studies.mff import mff_traffic as traffic
from warpsift.studies.mff import mff_waterfall as waterfall
from warpsift.studies.mff.mff_runs import ALGORITHMS, GRAPHS, LARGEST
from warpsift.studies.scale import Scale
from warpsift.studies.stored_runs import StoredRuns

TITLE = "Memory fast-forward: a low-cost special function unit (DATE 2015)"
EXPERIMENTS = (waterfall, fig05, fig10, fig08, prices, fig09, traffic, caches, ladder, area)


def claim_requests(scale: Scale) -> list[Request]:
    """Runs for the table of claims that no figure has: a larger L1 on all but the largest graph."""
    runs = StoredRuns([], str(scale.reading), sample=scale.sample)
    graphs = [scale.graph(graph) for graph in GRAPHS if graph not in LARGEST]
    return [r for graph in graphs for algorithm in ALGORITHMS for r in mff_claims.requests(runs, graph, algorithm, 1)]


__all__ = ["EXPERIMENTS", "GRAPHS", "TITLE", "claim_requests"]
