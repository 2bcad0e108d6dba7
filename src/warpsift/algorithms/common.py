"""The names that algorithms share, in one place to import them from; each file beside this one holds one idea."""

from warpsift.algorithms.algorithm import Algorithm, Outcome, Verdict, Work
from warpsift.algorithms.answer_check import cheapest_arcs, compare
from warpsift.algorithms.conventions import INFINITY, THREADS_PER_CTA
from warpsift.algorithms.device_graph import DeviceGraph
from warpsift.algorithms.frontier_queue import Queue
from warpsift.algorithms.options import OptionError, Options, option
from warpsift.algorithms.source_node import seeded_source, with_source
from warpsift.algorithms.style_options import SourceOptions, VertexOptions

__all__ = [
    "INFINITY",
    "THREADS_PER_CTA",
    "Algorithm",
    "DeviceGraph",
    "OptionError",
    "Options",
    "Outcome",
    "Queue",
    "SourceOptions",
    "Verdict",
    "VertexOptions",
    "Work",
    "cheapest_arcs",
    "compare",
    "option",
    "seeded_source",
    "with_source",
]
