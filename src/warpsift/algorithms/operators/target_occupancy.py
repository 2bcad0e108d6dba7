"""How many warps a fast-forward target leaves room for.

A target takes 4 KB of shared memory per warp (32 x 32 words, MFF paper, section 5), so a 48 KB SM holds 12 warps. CTAs
of 4 warps use that up exactly. The plain GPU can be run at the same occupancy (`occupancy="target"`), to tell what the
unit gives from what the lost warps take.
"""

from __future__ import annotations

from typing import Any

from warpsift.algorithms.style_options import VertexOptions

TARGET_THREADS_PER_CTA = 128  # 4 warps x 4 KB: three CTAs in 48 KB
WORD_BYTES = 4
TARGET_SHAPE: dict[str, Any] = {"threads_per_cta": TARGET_THREADS_PER_CTA}  # of a launch that has a target


def launch_shape(options: VertexOptions) -> dict[str, Any]:
    """CTA size and reserved shared memory of a compute launch that has no target of its own."""
    if options.occupancy == "full":
        return {}
    reserved = TARGET_THREADS_PER_CTA * options.target_words * WORD_BYTES
    return {"threads_per_cta": TARGET_THREADS_PER_CTA, "shared_bytes": reserved}
