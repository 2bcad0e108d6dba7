"""Text from files, shown: a terminal obeys escape sequences, so none of a file's may reach it.

What cannot be printed is shown as Python writes it: the escape character as `\\x1b`, a byte of a file's name that is
not UTF-8 as `\\xff`.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST_LINE = 500  # of an error: what was wrong and where must be found without scrolling
_GAP = " ... "
_SUSPECT = re.compile(r"[^\x20-\x7e]")
_ESCAPED = ("Cc", "Cf", "Cs", "Zl", "Zp")  # controls, text direction, lone surrogates, line and paragraph ends


def _shown(found: re.Match[str]) -> str:
    letter = found[0]
    if unicodedata.category(letter) not in _ESCAPED:
        return letter
    if "\udc80" <= letter <= "\udcff":  # how Python keeps a byte that is not UTF-8 (PEP 383)
        return f"\\x{ord(letter) - 0xDC00:02x}"
    return letter.encode("unicode_escape").decode()


def printable(text: str) -> str:
    """The text without anything that a terminal would obey; line ends are shown as `\\n`."""
    return text if text.isascii() and text.isprintable() else _SUSPECT.sub(_shown, text)


def one_line(text: str, longest: int = LONGEST_LINE) -> str:
    """A printable line that is not too long: its beginning says what and where, its end what to write instead."""
    if len(text) > 4 * longest:  # before it is escaped: it may be gigabytes
        text = text[: 2 * longest] + text[-2 * longest :]
    line = printable(text)
    if len(line) <= longest:
        return line
    end = longest // 3
    return line[: longest - end - len(_GAP)] + _GAP + line[-end:]
