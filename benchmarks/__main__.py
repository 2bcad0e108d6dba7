"""Run all benchmarks, or those named: `python -m benchmarks graph engine`; `--keep` adds medians to history.csv."""

from __future__ import annotations

import importlib
import pkgutil
import platform
import sys

import benchmarks
from benchmarks.history import THIS_RUN


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    wanted = [word for word in sys.argv[1:] if word != "--keep"]
    for word in wanted:
        if f"bench_{word}" not in names:
            sys.exit(f"no benchmark '{word}': choose among {', '.join(n.removeprefix('bench_') for n in names)}")
    print(f"{platform.node()}: {THIS_RUN.where}, Python {platform.python_version()}")
    for name in names:
        if not wanted or name.removeprefix("bench_") in wanted:
            print(f"\n== {name.removeprefix('bench_')}", flush=True)
            importlib.import_module(f"benchmarks.{name}").main()
    if "--keep" in sys.argv[1:]:
        print(f"\n{THIS_RUN.keep()} medians kept in {THIS_RUN.path.name}")


if __name__ == "__main__":
    main()
