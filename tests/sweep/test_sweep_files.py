"""Sweep files: what each key means, and what a bad file is told."""

from __future__ import annotations

import pytest

from warpsift import load_graph, simulate
from warpsift.errors import WarpsiftError
from warpsift.run.request import RequestError
from warpsift.sweep import SweepError, SweepOptions, plan, read_sweep, run_sweep, sweep_requests

QUIET = SweepOptions(workers=1, quiet=True)


def test_a_grid_is_every_combination():
    tree = {"grid": {"algorithm": ["bfs", "sssp"], "graph": ["kron-7", "grid-5x5"], "seed": [1, 2, 3]}}
    made = sweep_requests(tree)
    assert len(made) == 12
    assert {(r.algorithm, r.graph, r.options.seed) for r in made} == {
        (a, g, s) for a in ("bfs", "sssp") for g in ("kron-7", "grid-5x5") for s in (1, 2, 3)
    }


def test_sections_dotted_keys_and_keys_that_change_together(tmp_path):
    file = tmp_path / "s.toml"
    file.write_text("""
[common]
gpu = "titanx"
[[grid]]
algorithm = "bfs"
graph = "kron-7"
l2.ways = [8, 16]
design = [{ unit = "none" }, { unit = "scu", sm.count = 2 }]
[[point]]
algorithm = "wcc"
graph = "kron-7"
gpu = "default"
""")
    made = read_sweep(file)
    assert [(r.unit, dict(r.overrides)) for r in made] == [
        ("none", {"l2.ways": 8}),
        ("scu", {"l2.ways": 8, "sm.count": 2}),
        ("none", {"l2.ways": 16}),
        ("scu", {"l2.ways": 16, "sm.count": 2}),
        ("none", {}),
    ]
    assert made[0].gpu == "titanx" and made[-1].gpu is None


def test_how_a_graph_is_loaded_is_an_axis_like_any_other(tmp_path):
    (tmp_path / "path.el").write_text("0 1\n1 2\n2 2\n")
    (tmp_path / "s.toml").write_text("""
[[grid]]
algorithm = "bfs"
graph = "path.el"
source = 2
symmetrise = [false, true]
drop_self_loops = [false, true]
[[grid]]
algorithm = "sssp"
graph = "kron-7"
graph_seed = [1, 2]
random_weights = false
""")
    made = read_sweep(tmp_path / "s.toml")
    results = run_sweep(made, tmp_path / "runs.db", SweepOptions(workers=1, quiet=True))
    assert len(results) == 6 and not results.failed
    edges = {(r.symmetrise, r.drop_self_loops): results[r].graph["edges"] for r in made[:4]}
    assert edges == {(False, False): 3, (False, True): 2, (True, False): 5, (True, True): 4}
    assert len({results[r].graph["content_hash"] for r in made[4:]}) == 2
    rows = [row for row in results.rows() if row["symmetrise"]]
    assert {row["edges"] for row in rows} == {4, 5}


def test_loading_options_and_a_loaded_graph_contradict_each_other():
    with pytest.raises(RequestError, match=r"'symmetrise' is about loading a graph, but 'grid-5x5' is loaded already"):
        simulate("bfs", load_graph("grid-5x5"), symmetrise=True)
    assert simulate("bfs", "grid-5x5", symmetrise=True).check == "pass"


def test_files_beside_the_sweep_file_are_found(tmp_path):
    (tmp_path / "g.el").write_text("0 1\n")
    (tmp_path / "mine.toml").write_text('extends = "titanx"\nl2.ways = 8\n')
    (tmp_path / "s.toml").write_text('[[point]]\nalgorithm = "bfs"\ngraph = "g.el"\ngpu = "mine.toml"\n')
    (request,) = read_sweep(tmp_path / "s.toml")
    assert (request.graph, request.gpu) == (str(tmp_path / "g.el"), str(tmp_path / "mine.toml"))


GOOD = 'algorithm = "bfs"\ngraph = "kron-7"\n'


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[gird]\n" + GOOD, "unknown section 'gird': did you mean 'grid'? choose one of common, grid, point"),
        (
            "[[grid]]\n" + GOOD + "grapf = 1\n",
            "[[grid]] number 1: unknown key 'grapf': did you mean 'graph'? ('warpsift run --help' lists all), or a "
            "machine parameter (l2.ways)",
        ),
        (
            '[[grid]]\ngpu = "titanx"\n' + GOOD + "l2.wayz = [4]\n",
            "unknown machine parameter 'l2.wayz': did you mean 'l2.ways'? ('warpsift list keys' lists all)",
        ),
        (
            '[[grid]]\ngpu = "gtx980"\n' + GOOD + "costs.noc_flits = [1e-12]\n",
            "unknown machine parameter 'costs.noc_flits': did you mean 'costs.noc_flit'",
        ),
        ("[[grid]]\n" + GOOD + "l2.ways = 4\n", "'l2.ways' is a machine parameter, but the point names no gpu"),
        ('[[grid]]\nalgorithm = "bfs"\n', "every point needs 'graph', a text such as graph = \"kron-12\""),
        ('[[grid]]\nalgorithm = "dfs"\ngraph = "kron-7"\n', "unknown algorithm 'dfs': did you mean 'bfs'?"),
        (
            "[[grid]]\n" + GOOD + 'gpu = "titan"\n',
            "unknown gpu 'titan': did you mean 'titanx'? ('warpsift list machines' ",
        ),
        ("[[grid]]\n" + GOOD + 'unit = "scv"\n', "unknown unit 'scv': did you mean 'scu'? choose one of none, scu"),
        ("[[grid]]\n" + GOOD + "seed = [1, 'x']\n", "'seed' = 'x': expected `int`, got `str`"),
        ("[[grid]]\n" + GOOD + "seed = []\n", "'seed' is an empty list: the grid has no points"),
        (
            "[[grid]]\n" + GOOD + "d = [{seed = 2}, 3]\n",
            "'d' mixes tables and values: give tables only, or values only",
        ),
        ("[[grid]]\n" + GOOD + "seed = 1\nd = [{seed = 2}]\n", "'seed' is given twice for one point"),
        (
            "[[point]]\n" + GOOD + "seed = [1, 2]\n",
            "'seed' is a list, but a point has one value for each key; use [[grid]]",
        ),
        ("", "no points: write a [[grid]] or a [[point]] with at least 'algorithm' and 'graph'"),
        ("grid = 3\n", "'grid' must be a table or several: write [[grid]]"),
        ("[[grid]\n", "Expected ']]' at the end of an array declaration"),
        ("[[grid]]\n" + GOOD + f"seed = {list(range(400))}\nsource = {list(range(400))}\n", "more than 100000 points"),
    ],
)
def test_bad_files_are_told_what_to_write(tmp_path, text, complaint):
    file = tmp_path / "s.toml"
    file.write_text(text)
    with pytest.raises(SweepError) as problem:
        read_sweep(file)
    assert str(problem.value).startswith(f"{file}: ") and complaint in str(problem.value)


def test_a_missing_file():
    with pytest.raises(SweepError, match=r"^nowhere\.toml: no such file$"):
        read_sweep("nowhere.toml")


@pytest.mark.parametrize("key", ["algorithm", "graph", "style", "unit", "gpu", "reading"])
@pytest.mark.parametrize("value", ["9", "true", "1.5"])
def test_a_number_where_a_name_belongs_is_refused(tmp_path, key, value):
    given = {"algorithm": '"bfs"', "graph": '"kron-6"', key: value}
    (tmp_path / "s.toml").write_text("[[point]]\n" + "\n".join(f"{name} = {text}" for name, text in given.items()))
    with pytest.raises(WarpsiftError) as problem:
        plan(read_sweep(tmp_path / "s.toml"))
    assert "\n" not in str(problem.value)
