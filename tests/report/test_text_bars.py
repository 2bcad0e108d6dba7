"""Bars in the terminal."""

from __future__ import annotations

from warpsift.report.text_bars import WIDTH, bar_lines


def test_bars_in_the_terminal():
    plain = {"unit": "none", "style": "frontier", "seconds": 1.0, "gpu_seconds": 1.0}
    unit = {"unit": "scu", "style": "frontier", "seconds": 4.0, "gpu_seconds": 1.0}
    first, second, legend = bar_lines([plain, unit], "ascii")
    assert first == f"none  {'#' * (WIDTH // 4)} 1.00"
    assert second == f"scu   {'#' * (WIDTH // 4)}{'-' * (WIDTH - WIDTH // 4)} 4.00"
    assert legend.endswith("time, none = 1; # GPU, - unit")
    assert "█" in bar_lines([plain, unit])[0]
