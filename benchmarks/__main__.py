"""Run all benchmarks, or those named: `python -m benchmarks graph engine`."""

from __future__ import annotations

import importlib
import os
import pkgutil
import platform
import sys

import benchmarks


def main() -> None:
    names = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    wanted = sys.argv[1:]
    for word in wanted:
        if f"bench_{word}" not in names:
            sys.exit(f"no benchmark '{word}': choose among {', '.join(n.removeprefix('bench_') for n in names)}")
    processor = next((line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), "")
    print(
        f"{platform.node()}: {processor or platform.processor()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}"
    )
    for name in names:
        if not wanted or name.removeprefix("bench_") in wanted:
            print(f"\n== {name.removeprefix('bench_')}", flush=True)
            importlib.import_module(f"benchmarks.{name}").main()


def _cpuinfo() -> list[str]:
    try:
        with open("/proc/cpuinfo") as file:
            return file.readlines()
    except OSError:
        return []


if __name__ == "__main__":
    main()
