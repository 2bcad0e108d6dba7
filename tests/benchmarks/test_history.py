"""What the benchmarks keep, and the run beside Accel-Sim, with a script in its place."""

from __future__ import annotations

import csv
import sys

from benchmarks.history import COLUMNS, History

from benchmarks import bench_accelsim, history


def test_a_number_is_held_against_the_last_one_of_the_same_processor(tmp_path):
    path = tmp_path / "history.csv"
    for value, where in ((2.0, "here"), (4.0, "here"), (100.0, "elsewhere")):
        past = History(path, where, yard=1.0)
        past.note("speed", value, "M inst/s")
        past.note("start", value, "s")
        assert past.keep() == 2
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS and [row["value"] for row in rows if row["unit"] == "s"] == ["2", "4", "100"]
    now = History(path, "here", yard=1.0)
    assert now.note("speed", 4.1, "M inst/s").startswith("same, 1.02 of ")
    assert now.note("speed", 3.0, "M inst/s").startswith("SLOWER, 0.75 of ")
    assert now.note("start", 3.0, "s").startswith("faster, 0.75 of ")
    assert now.note("start", 5.0, "s").startswith("SLOWER, 1.25 of ")
    assert now.note("unheard of", 1.0, "s") == "" and History(path, "nowhere", 1.0).note("start", 5.0, "s") == ""
    loaded = History(path, "here", yard=2.0)  # ten million additions take twice as long: so may all else
    assert loaded.note("start", 8.0, "s").startswith("same, 1.00 of ")
    assert loaded.note("speed", 2.0, "M inst/s").startswith("same, 1.00 of ")


def test_the_yardstick_is_processor_time_of_additions(monkeypatch):
    monkeypatch.setattr(history, "ADDITIONS", 1000)
    short = history.yardstick()
    monkeypatch.setattr(history, "ADDITIONS", 200_000)
    assert 0 < short < history.yardstick()


def test_both_simulators_read_the_same_traces(tmp_path, monkeypatch, capsys):
    """The stand-in counts the instructions of the traces it is given, and ends as Accel-Sim does."""
    script = tmp_path / "accel-sim.out"
    script.write_text(
        f"#!{sys.executable}\n"
        "import pathlib, sys\n"
        "assert sys.argv[1] == '-trace' and sys.argv[3:] == ['-config', 'a b', '-config', 'c'], sys.argv\n"
        "listed = pathlib.Path(sys.argv[2])\n"
        "files = [listed.parent / n for n in listed.read_text().split() if n.startswith('kernel-')]\n"
        "assert files and all('-binary version = 61' in f.read_text() for f in files)\n"
        "print('gpu_tot_sim_cycle = 5\\ngpu_tot_sim_cycle = 1000')\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("ACCELSIM", str(script))
    monkeypatch.setenv("ACCELSIM_CONFIG", "'a b' c")
    monkeypatch.setattr(bench_accelsim, "GRAPH", "kron-6")
    monkeypatch.setattr(bench_accelsim, "CASES", {"bfs": {}})
    bench_accelsim.main()
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["kron-6", "on", "titanx"] and row.split()[0] == "bfs"
    assert float(row.split()[-1]) > 1  # of 1000 cycles
