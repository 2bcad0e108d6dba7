"""The reordering hash in slow, obvious Python: lists and dictionaries, element by element."""

from __future__ import annotations

LANES = 32


def reorder(index: list[int], values: list | None, merge: str, per_block: int, parts: int, entries: int):
    """(packs as lists of element numbers, value of every element that is left), in the order of the hand-out."""
    values = list(values) if values is not None else [None] * len(index)
    table: dict[tuple[int, int], tuple[int, list[int]]] = {}
    waiting: list[list[int]] = [[] for _ in range(parts)]
    packs: list[list[int]] = []

    def empty(place) -> None:
        _, elements = table.pop(place)
        if len(elements) == LANES:
            packs.append(elements)
            return
        for element in elements:
            waiting[place[0]].append(element)
            if len(waiting[place[0]]) == LANES:
                packs.append(waiting[place[0]])
                waiting[place[0]] = []

    for k, key in enumerate(index):
        block = key // per_block
        place = (block % parts, (block // parts) % entries)
        held = table.get(place)
        if held is not None and held[0] == block and merge != "none":
            same = [element for element in held[1] if index[element] == key]
            if same:
                first = same[0]
                if merge == "min":
                    values[first] = min(values[first], values[k])
                elif merge == "add":
                    values[first] = values[first] + values[k]
                continue
        if held is not None and (held[0] != block or len(held[1]) == LANES):
            empty(place)
        table.setdefault(place, (block, []))[1].append(k)
    for place in sorted(table):
        empty(place)
    rest = [element for part in waiting for element in part]
    packs += [rest[k : k + LANES] for k in range(0, len(rest), LANES)]
    return packs, [values[element] for pack in packs for element in pack]
