"""Compilation: equal counters without it, none for other machines, none of old code."""

import json
import os
import shutil

import llvmlite.binding as llvm
import pytest
from numba.core.event import install_recorder

from support.fresh_python import run_python
from support.places import ROOT
from warpsift.engine import Engine
from warpsift.engine.core import compiled_code
from warpsift.engine.main_loop import run
from warpsift.machines import load_machine
from warpsift.simt import Gpu, kernel

SMALL_CASE = """
import json, sys
sys.path.insert(0, "tests")
from support.engine_streams import alu, atomic, barrier, load, shared, simulate, store
warps = [[load(0, [3 * w, 40 + w]), shared(1, 2), alu(4, 2, wait=3), atomic(w % 3, 2), barrier(), store([w]), alu(2)]
         for w in range(WARPS)]
print(json.dumps(dict(simulate(warps, "MACHINE", warps_per_cta=2))))
"""


@pytest.mark.parametrize(("machine", "warps"), [("tx1", 12), ("titanx", 60), ("gtx480-gpgpusim4", 30)])
def test_the_same_sources_run_without_compilation_and_count_the_same(machine, warps):
    """On all SMs of a machine, as fields of records are narrower than the numbers computed from them."""
    text = SMALL_CASE.replace("MACHINE", machine).replace("WARPS", str(warps))
    compiled = json.loads(run_python(text))
    plain = json.loads(run_python(text, NUMBA_DISABLE_JIT="1"))
    assert plain == compiled
    assert compiled["cycles"] > 0


@kernel
def copy(t, a, b):
    t.store(b, t.id, t.load(a, t.id))


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_changing_any_machine_parameter_compiles_nothing():
    import numpy as np

    def simulate(name, **overrides):
        engine = Engine(load_machine(name, {k.replace("__", "."): v for k, v in overrides.items()}))
        gpu = Gpu(sink=engine)
        a = gpu.memory.array("a", np.zeros(4096, np.float32))
        gpu.launch(copy, 4096, a, gpu.memory.empty("b", 4096, np.float32), phase="copy")

    simulate("gtx980")
    with install_recorder("numba:compile") as compilations:
        for name in ("tx1", "gtx480", "titanx"):
            simulate(name)
        simulate("gtx980", sm__count=3, l2__size_bytes=1 << 20, l1__fill_bytes=128, dram__queue_entries=7)
        simulate("gtx980", clocks__core_mhz=900.5, sm__policy="lrr", l2__mapping="random", noc__flit_bytes=64)
        simulate("gtx980", ideal__noc=True)
    assert not compilations.buffer


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_functions_of_an_entry_point_lie_side_by_side():
    """Else their beginnings compete for the same sets of the host's instruction cache, a tenth of the engine's time."""
    code = llvm.ObjectFileRef.from_data(compiled_code.folder().joinpath(f"{run.name}.o").read_bytes())
    texts = [section.size() for section in code.sections() if section.is_text() and section.size()]
    assert len(texts) == 1
    assert 50_000 < texts[0] < 500_000  # all of the engine


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_an_error_of_pythons_in_compiled_code_is_told(tmp_path):
    text = (
        "from warpsift.engine.core.jit import entry, i64\n"
        "@entry('a probe', i64, i64)\ndef steps(by):\n    total = 0\n"
        "    for x in range(0, 9, by):\n        total += x\n    return total\n"
        "print(steps(3))\n"
        "try:\n    steps(0)\nexcept RuntimeError as error:\n    print(error)\n"
    )
    (tmp_path / "probe.py").write_text(text)
    lines = run_python("import probe", PYTHONPATH=str(tmp_path), WARPSIFT_CACHE_DIR=str(tmp_path)).splitlines()
    assert lines == ["9", "probe.steps: compiled code met an error of Python's, such as range() with a step of 0"]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_nothing_is_compiled_before_it_is_wanted(tmp_path):
    """Who lists machines, or does not sample, does not wait for what only others call."""
    text = (
        "from warpsift.engine.core.jit import entry, i64, ready\n"
        "@entry('a probe', i64, i64)\ndef double(x):\n    return 2 * x\n"
        "@entry('another', i64, i64)\ndef triple(x):\n    return 3 * x\n"
        "print(double.compiled_here, double(4), double.compiled_here, triple.compiled_here)\n"
        "ready(triple, len)\nprint(triple.compiled_here)\n"
    )
    (tmp_path / "lazy_probe.py").write_text(text)
    lines = run_python("import lazy_probe", PYTHONPATH=str(tmp_path), WARPSIFT_CACHE_DIR=str(tmp_path)).splitlines()
    assert lines == ["False 8 True False", "True"]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_an_edit_in_another_file_never_runs_old_code(tmp_path):
    """Numba's own cache would miss it: the caller's file does not change, the callee's does."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    engine = tmp_path / "src" / "warpsift" / "engine"
    (engine / "probe_low.py").write_text(
        "from warpsift.engine.core.jit import compiled, i64\n\n\n@compiled(i64, i64)\ndef low(x):\n    return x + 1\n"
    )
    (engine / "probe_high.py").write_text(
        "from warpsift.engine.core.jit import entry, i64\nfrom warpsift.engine.probe_low import low\n\n\n"
        "@entry('a probe', i64, i64)\ndef high(x):\n    return low(x) * 10\n"
    )
    text = "from warpsift.engine.probe_high import high; print(high(1), high.compiled_here)"
    environment = {"PYTHONPATH": str(tmp_path / "src"), "WARPSIFT_CACHE_DIR": str(tmp_path / "cache")}
    assert run_python(text, **environment).split() == ["20", "True"]
    assert run_python(text, **environment).split() == ["20", "False"]  # from the cache
    (engine / "probe_low.py").write_text((engine / "probe_low.py").read_text().replace("x + 1", "x + 2"))
    assert run_python(text, **environment).split() == ["30", "True"]
