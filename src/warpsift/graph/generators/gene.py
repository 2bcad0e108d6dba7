"""Gene networks: genes joined when their expression over many samples is correlated (the SCU paper's human).

Each gene's expression is a mix of a few shared programmes plus its own noise, some genes far stronger than others; a
threshold on the correlation keeps the wanted share of pairs. So the graph is dense (human_gene1: 5 % of all pairs),
clustered, and its degrees range from a few to a third of all genes.
"""

from __future__ import annotations

import numpy as np

from warpsift.graph.csr import CsrGraph

GENE_DENSITY = 24_669_643 / 22_283**2  # of human_gene1
_PROGRAMMES = 12  # regulatory programmes: enough for several overlapping clusters
_SAMPLE_PAIRS = 1_000_000  # to find the threshold: settles a share of 5 % to half a percent of itself
_SLICE_ROWS = 1024  # correlations are computed for this many genes at a time, to bound memory


def gene(nodes: int, degree: float | None = None, seed: int = 1) -> CsrGraph:
    """An undirected graph of about nodes * degree arcs (by default the density of human_gene1)."""
    rng = np.random.default_rng(seed)
    profile = _profiles(nodes, rng)
    density = GENE_DENSITY if degree is None else min(degree / max(nodes - 1, 1), 1.0)
    threshold = _threshold(profile, density, rng)
    one, other = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first in range(0, nodes, _SLICE_ROWS):
        correlation = np.abs(profile[first : first + _SLICE_ROWS] @ profile.T)  # repression counts too
        rows, columns = np.nonzero(correlation > threshold)
        later = rows + first < columns  # each pair once: the product need not be symmetric to the last bit
        one.append((rows[later] + first).astype(np.int32))
        other.append(columns[later].astype(np.int32))
    lower, upper = np.concatenate(one), np.concatenate(other)
    return CsrGraph.from_edges(np.append(lower, upper), np.append(upper, lower), nodes=nodes)


def _profiles(nodes: int, rng: np.random.Generator) -> np.ndarray:
    """The shared part of each gene's expression, as coordinates on the programmes; its length is below 1.

    The k-th programme explains a share of the variance that falls with 1/k, as principal components of expression
    data do; the rest of a gene's variance is noise of its own.
    """
    profile = rng.standard_normal((nodes, _PROGRAMMES)).astype(np.float32)
    profile /= np.sqrt(np.arange(1, _PROGRAMMES + 1, dtype=np.float32))
    profile /= np.sqrt((profile**2).sum(1, keepdims=True)) + np.float32(1e-9)
    return profile * np.sqrt(rng.uniform(0.2, 1.0, (nodes, 1))).astype(np.float32)


def _threshold(profile: np.ndarray, density: float, rng: np.random.Generator) -> float:
    """The correlation that the wanted share of pairs exceeds, from a sample."""
    if len(profile) < 2:
        return 0.0
    if len(profile) ** 2 <= 4 * _SAMPLE_PAIRS:
        pairs = np.abs(profile @ profile.T)[np.triu_indices(len(profile), 1)]
    else:
        ends = rng.integers(0, len(profile), (2, _SAMPLE_PAIRS))
        ends = ends[:, ends[0] != ends[1]]
        pairs = np.abs(np.einsum("ij,ij->i", profile[ends[0]], profile[ends[1]]))
    return float(np.quantile(pairs, 1 - density))
