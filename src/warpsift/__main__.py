"""`warpsift` and `python -m warpsift`: the command line.

Its modules are imported here, and not when this one is, so that Ctrl-C in the first second is one line too.
"""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    try:
        from warpsift.cli import main as command_line
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; nothing was written\n")
        sys.exit(INTERRUPTED)
    command_line()


if __name__ == "__main__":
    main()
