"""Memory that a large run leaves behind in small pieces goes back to the system."""

import sys

import pytest

from support.fresh_python import run_python

PIECES = """
from pathlib import Path
from warpsift.host_memory import give_back

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

pieces = [bytearray(3000) for _ in range(100_000)]
full = megabytes()
pieces = pieces[::500]  # one in 500 lives on, and holds the heap
kept = megabytes()
give_back()
print(full - kept, full - megabytes())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_heap_full_of_holes_goes_back_to_the_system():
    let_go_by_itself, given_back = map(float, run_python(PIECES).split())
    assert let_go_by_itself < 50 < 200 < given_back
