"""WebGraph BV the slow and obvious way: bits are a string of 0s and 1s. An oracle for the compiled decoder.

`decode` follows the text of Boldi and Vigna (WWW 2004); `encode` is its inverse, so that every code and every
feature can be tested without files from elsewhere.
"""

from __future__ import annotations

DEFAULT_CODES = {
    "OUTDEGREES": "GAMMA",
    "BLOCKS": "GAMMA",
    "RESIDUALS": "ZETA",
    "BLOCK_COUNT": "GAMMA",
    "REFERENCES": "UNARY",
    "INTERVALS": "GAMMA",
}


class Bits:
    """A reader of codes."""

    def __init__(self, data: bytes, k: int = 3) -> None:
        self.text = "".join(f"{byte:08b}" for byte in data)
        self.at = 0
        self.k = k

    def take(self, width: int) -> int:
        piece = self.text[self.at : self.at + width]
        self.at += width
        return int(piece, 2) if piece else 0

    def unary(self) -> int:
        one = self.text.index("1", self.at)
        zeros, self.at = one - self.at, one + 1
        return zeros

    def gamma(self) -> int:
        width = self.unary()
        return 2**width + self.take(width) - 1

    def delta(self) -> int:
        width = self.gamma()
        return 2**width + self.take(width) - 1

    def zeta(self) -> int:
        height = self.unary()
        left = 2 ** (height * self.k)
        value = self.take(height * self.k + self.k - 1)
        return value + left - 1 if value < left else 2 * value + self.take(1) - 1

    def nibble(self) -> int:
        value = 0
        while True:
            stop = self.take(1)
            value = 8 * value + self.take(3)
            if stop:
                return value

    def golomb(self) -> int:
        quotient = self.unary()
        width = self.k.bit_length() - 1
        short = 2 ** (width + 1) - self.k
        value = self.take(width)
        if value >= short:
            value = 2 * value + self.take(1) - short
        return quotient * self.k + value

    def read(self, code: str) -> int:
        return getattr(self, code.lower())()


def _signed(natural: int) -> int:
    return natural // 2 if natural % 2 == 0 else -(natural + 1) // 2


def _natural(signed: int) -> int:
    return 2 * signed if signed >= 0 else -2 * signed - 1


def decode(
    data: bytes, nodes: int, window: int = 7, shortest: int = 4, k: int = 3, codes: dict[str, str] | None = None
) -> list[list[int]]:
    """The successors of every node."""
    codes = {**DEFAULT_CODES, **(codes or {})}
    bits = Bits(data, k)
    lists: list[list[int]] = []
    for node in range(nodes):
        degree = bits.read(codes["OUTDEGREES"])
        successors: set[int] = set()
        reference = bits.read(codes["REFERENCES"]) if degree and window else 0
        if reference:
            source = lists[node - reference]
            lengths = [bits.read(codes["BLOCKS"]) + (i > 0) for i in range(bits.read(codes["BLOCK_COUNT"]))]
            place = 0
            for index, length in enumerate(lengths):
                if index % 2 == 0:
                    successors.update(source[place : place + length])
                place += length
            if len(lengths) % 2 == 0:
                successors.update(source[place:])
        if shortest and len(successors) < degree:
            end = None
            for _ in range(bits.read(codes["INTERVALS"])):
                gap = bits.read(codes["INTERVALS"])
                left = node + _signed(gap) if end is None else end + 1 + gap
                end = left + bits.read(codes["INTERVALS"]) + shortest
                successors.update(range(left, end))
        previous = None
        for _ in range(degree - len(successors)):
            gap = bits.read(codes["RESIDUALS"])
            previous = node + _signed(gap) if previous is None else previous + 1 + gap
            successors.add(previous)
        lists.append(sorted(successors))
    return lists


def write_code(code: str, value: int, k: int) -> str:
    if code == "UNARY":
        return "0" * value + "1"
    if code == "GAMMA":
        binary = f"{value + 1:b}"
        return "0" * (len(binary) - 1) + binary
    if code == "DELTA":
        binary = f"{value + 1:b}"
        return write_code("GAMMA", len(binary) - 1, k) + binary[1:]
    if code == "ZETA":
        number = value + 1
        height = (number.bit_length() - 1) // k
        left = 2 ** (height * k)
        if number - left < left:
            width = height * k + k - 1
            return "0" * height + "1" + (f"{number - left:0{width}b}" if width else "")
        return "0" * height + "1" + f"{number:0{height * k + k}b}"
    if code == "NIBBLE":
        digits = f"{value:o}"
        return "".join(f"{8 * (i == len(digits) - 1) + int(d):04b}" for i, d in enumerate(digits))
    assert code == "GOLOMB"
    quotient, rest = divmod(value, k)
    width = k.bit_length() - 1
    short = 2 ** (width + 1) - k
    if rest < short:
        return "0" * quotient + "1" + (f"{rest:0{width}b}" if width else "")
    return "0" * quotient + "1" + f"{rest + short:0{width + 1}b}"


def _blocks(source: list[int], wanted: set[int]) -> list[int]:
    """Lengths of runs copied, skipped, copied, ...; the last run is left to be understood."""
    runs: list[int] = [0]
    copying = True
    for successor in source:
        if (successor in wanted) != copying:
            runs.append(0)
            copying = not copying
        runs[-1] += 1
    return runs[:-1]


def _intervals(extra: list[int], shortest: int) -> list[tuple[int, int]]:
    """Maximal runs of at least `shortest` consecutive numbers: (left, length)."""
    runs: list[list[int]] = []
    for number in extra:
        if runs and number == sum(runs[-1]):
            runs[-1][1] += 1
        else:
            runs.append([number, 1])
    return [(left, length) for left, length in runs if length >= shortest]


def encode(
    lists: list[list[int]],
    references: list[int],
    window: int = 7,
    shortest: int = 4,
    k: int = 3,
    codes: dict[str, str] | None = None,
) -> bytes:
    """The .graph file of these sorted lists; `references[x]` is how far back node x copies from (0: not)."""
    codes = {**DEFAULT_CODES, **(codes or {})}
    out: list[str] = []

    def put(part: str, value: int) -> None:
        out.append(write_code(codes[part], value, k))

    for node, successors in enumerate(lists):
        put("OUTDEGREES", len(successors))
        if not successors:
            continue
        reference = min(references[node], node, window)
        if window:
            put("REFERENCES", reference)
        copied: set[int] = set()
        if reference:
            source = lists[node - reference]
            copied = set(source) & set(successors)
            blocks = _blocks(source, copied)
            put("BLOCK_COUNT", len(blocks))
            for index, length in enumerate(blocks):
                put("BLOCKS", length - (index > 0))
        extra = [number for number in successors if number not in copied]
        if extra and shortest:
            intervals = _intervals(extra, shortest)
            put("INTERVALS", len(intervals))
            end = None
            for left, length in intervals:
                put("INTERVALS", _natural(left - node) if end is None else left - end - 1)
                put("INTERVALS", length - shortest)
                end = left + length
                extra = [number for number in extra if not left <= number < left + length]
        previous = None
        for number in extra:
            put("RESIDUALS", _natural(number - node) if previous is None else number - previous - 1)
            previous = number
    text = "".join(out)
    text += "0" * (-len(text) % 8)
    return bytes(int(text[i : i + 8], 2) for i in range(0, len(text), 8))


def properties(lists: list[list[int]], window: int, shortest: int, k: int, codes: dict[str, str]) -> str:
    """The .properties file that goes with `encode`."""
    flags = " | ".join(f"{part}_{code}" for part, code in codes.items())
    arcs = sum(map(len, lists))
    return (
        "#BVGraph properties\n"
        f"version=0\nnodes={len(lists)}\narcs={arcs}\nwindowsize={window}\nminintervallength={shortest}\n"
        f"zetak={k}\ncompressionflags={flags}\ngraphclass=it.unimi.dsi.webgraph.BVGraph\n"
    )
