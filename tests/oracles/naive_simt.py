"""Slow, obvious versions of what the SIMT layer does cleverly."""

from __future__ import annotations


def line_transactions(addresses: list[int]) -> list[tuple[int, int]]:
    """(line, sector mask) of one warp's load or store, in order of the first lane."""
    lines: dict[int, int] = {}
    for address in addresses:
        lines[address // 128] = lines.get(address // 128, 0) | 1 << (address % 128 // 32)
    return list(lines.items())


def atomic_transactions(addresses: list[int]) -> dict[int, int]:
    """sector -> the most lanes on one address in it."""
    sectors: dict[int, int] = {}
    for address in addresses:
        sectors[address // 32] = max(sectors.get(address // 32, 0), addresses.count(address))
    return sectors


def bank_passes(addresses: list[int], itemsize: int) -> int:
    """Passes through 32 banks of 4 bytes: distinct words in the busiest bank."""
    words = {word for a in addresses for word in range(a // 4, (a + itemsize + 3) // 4)}
    return max(sum(word % 32 == bank for word in words) for bank in range(32))


def covered_words(addresses: list[int], itemsize: int) -> dict[int, int]:
    """line -> mask of its words that one warp's store covers completely, in order of the first lane."""
    written = {byte for a in addresses for byte in range(a, a + itemsize)}
    lines = dict.fromkeys(a // 128 for a in addresses)
    return {
        line: sum(1 << w for w in range(32) if all(128 * line + 4 * w + b in written for b in range(4)))
        for line in lines
    }
