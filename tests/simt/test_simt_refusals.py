"""What would give a wrong answer without a word is refused at the first launch, with what to write instead."""

from __future__ import annotations

from pathlib import Path

import networkx
import numpy as np
import pytest
import scipy.sparse

import warpsift
from warpsift.graph.graph_errors import GraphError
from warpsift.simt import Counter, DeviceMemoryError, Gpu, KernelError, kernel


def new_gpu() -> Gpu:
    return Gpu(Counter(), memory_bytes=1 << 20)


def launch(program, *arguments, gpu: Gpu | None = None) -> None:
    (gpu or new_gpu()).launch(program, 64, *arguments, phase="test")


# ---- jumps ------------------------------------------------------------------------------------------------------


@kernel
def returns_under_a_condition(t, x):
    with t.where(t.load(x, t.id) == 0):
        return
    t.store(x, t.id, 1)


@kernel
def breaks_a_loop(t, x):
    for i in t.range(t.id, t.id + 3):
        with t.where(t.load(x, i) == 0):
            break


@kernel
def breaks_a_loop_by_a_python_if(t, x):
    for i in t.range(t.id, t.id + 3):
        if len(x) > 3:
            break
        t.store(x, i, 1)


@kernel
def continues_under_a_condition(t, x):
    for k in range(3):
        with t.where(t.load(x, t.id) == k):
            continue
        t.store(x, t.id, k)


@kernel
def returns_from_a_loop(t, x):
    for i in t.range(t.id, t.id + 3):
        t.store(x, i, 1)
        return


def helper(t, x):
    with t.otherwise(t.load(x, t.id) == 0):
        return


@kernel
def hands_its_threads_on(t, x):
    helper(t, x)


class Helper:
    def __init__(self, t, x):
        self.t = t
        self.x = x

    def apply(self):
        for _ in self.t.loop_while(lambda: self.t.load(self.x, self.t.id) == 0):
            break


@kernel
def hands_its_threads_to_a_class(t, x):
    Helper(t, x).apply()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (returns_under_a_condition, "'return' inside 'with t.where(...):' would end the kernel for all threads"),
        (breaks_a_loop, "'break' inside 'with t.where(...):' would end the loop for all threads"),
        (breaks_a_loop_by_a_python_if, "'break' inside a 't.range' loop would end the loop for all threads"),
        (continues_under_a_condition, "'continue' inside 'with t.where(...):' would skip the rest"),
        (returns_from_a_loop, "'return' inside a 't.range' loop would end the kernel"),
        (hands_its_threads_on, "in helper: 'return' inside 'with t.otherwise(...):'"),
        (hands_its_threads_to_a_class, "in apply: 'break' inside a 'self.t.loop_while' loop"),
    ],
)
def test_a_jump_out_of_a_condition_is_refused(program, said):
    gpu = new_gpu()
    x = gpu.memory.empty("x", 80)
    with pytest.raises(KernelError) as error:
        launch(program, x, gpu=gpu)
    assert said in str(error.value)
    assert "test_simt_refusals.py, line " in str(error.value)
    assert "write" in str(error.value) or "put" in str(error.value)
    assert not gpu.sink.launches  # nothing was run


def test_the_line_is_the_jump_s():
    with pytest.raises(KernelError, match="line ") as error:
        launch(returns_under_a_condition, new_gpu().memory.empty("x", 64))
    line = int(str(error.value).split("line ")[1].split(",")[0])
    assert Path(__file__).read_text(encoding="utf-8").splitlines()[line - 1].strip() == "return"


def test_jumps_that_a_plain_if_decides_stay():
    @kernel
    def fine(t, x, early):
        if early:
            return
        for k in range(4):
            if k == 2:
                break
            if k == 0:
                continue
            t.store(x, t.id, k)
        for i in t.range(0, 2):
            if early:
                continue
            t.store(x, t.id, i + 10)

        def inner():
            return 3

        with t.where(t.id == 0):
            t.store(x, t.id, inner())

    gpu = new_gpu()
    x = gpu.memory.empty("x", 64)
    launch(fine, x, True, gpu=gpu)
    assert x.host.sum() == 0
    launch(fine, x, False, gpu=gpu)
    assert x.host.tolist() == [3] + [11] * 63


def test_a_loop_left_in_code_without_source_is_refused_when_the_kernel_ends():
    names: dict = {}
    exec("def unseen(t, x):\n    for i in t.range(0, 3):\n        break\n", names)
    with pytest.raises(KernelError, match=r"a 't.range' loop was left before its end"):
        launch(kernel(names["unseen"]), new_gpu().memory.empty("x", 64))


def test_exit_inside_a_condition_is_refused():
    @kernel
    def leaves(t, x):
        with t.where(t.id > 3):
            t.exit_where(t.id > 5)
        t.store(x, t.id, 1)

    with pytest.raises(KernelError, match=r"t.exit_where\(condition\) stands inside a condition"):
        launch(leaves, new_gpu().memory.empty("x", 64))


# ---- memory -----------------------------------------------------------------------------------------------------


def test_the_host_s_view_is_closed_while_a_kernel_runs():
    @kernel
    def peeks(t, x):
        t.store(x, t.id, int(x.host[3]))

    gpu = new_gpu()
    x = gpu.memory.array("x", np.arange(64, dtype=np.int32))
    with pytest.raises(DeviceMemoryError, match=r"kernel 'peeks' reads 'x.host'.*write t.load\(x, index\)"):
        launch(peeks, x, gpu=gpu)
    assert x.host[3] == 3  # open again, although the kernel failed


@pytest.mark.parametrize(
    ("values", "dtype", "said"),
    [
        ([1, 2**40], np.int32, "array 'a': 1099511627776 does not fit int32, which holds -2147483648 to 2147483647"),
        ([-1], np.uint32, "array 'a': -1 does not fit uint32"),
        ([0.5, 1.0], np.int32, "array 'a': 0.5 is no integer and int32 would cut it off"),
        ([np.nan], np.int32, "array 'a': nan does not fit int32"),
        ([1e12], np.int32, "array 'a': 1000000000000.0 does not fit int32"),
        ([[1, 2]], np.int32, "array 'a' has 2 dimensions; device arrays have one: give values.ravel()"),
        (["x"], None, "device arrays hold integers, floats or booleans"),
    ],
)
def test_values_that_would_become_others_are_refused(values, dtype, said):
    with pytest.raises(DeviceMemoryError) as error:
        new_gpu().memory.array("a", values, dtype)
    assert said in str(error.value)


def test_a_value_that_does_not_fit_is_refused_in_full():
    with pytest.raises(DeviceMemoryError, match="1099511627776 does not fit int32"):
        new_gpu().memory.full("a", 4, 2**40)


def test_values_that_fit_are_converted():
    memory = new_gpu().memory
    assert memory.array("a", [1.0, 2.0], np.int32).host.tolist() == [1, 2]
    assert memory.array("b", [True, False], np.int32).host.tolist() == [1, 0]
    assert memory.array("c", [2**31 - 1, -(2**31)], np.int32).host.tolist() == [2**31 - 1, -(2**31)]
    assert memory.array("d", [0.1], np.float32).host.dtype == np.float32


# ---- arguments --------------------------------------------------------------------------------------------------


@kernel
def copy(t, x, y):
    t.store(y, t.id, t.load(x, t.id))


def test_a_numpy_array_as_argument_says_what_to_write():
    with pytest.raises(
        KernelError, match=r"argument 1 of kernel 'copy' is a NumPy array.*gpu.memory.array\('x', values\)"
    ):
        launch(copy, np.zeros(64), new_gpu().memory.empty("y", 64))


def test_a_numpy_array_from_outside_says_what_to_write():
    outside = np.zeros(64)

    @kernel
    def reads(t, y):
        t.store(y, t.id, t.load(outside, t.id))

    with pytest.raises(KernelError, match=r"work on device arrays, not on a ndarray: make one with gpu\.memory\.array"):
        launch(reads, new_gpu().memory.empty("y", 64))


def test_a_plain_function_says_what_to_write():
    with pytest.raises(KernelError, match=r"helper is not a kernel: write '@warpsift.kernel' in the line above"):
        launch(helper, new_gpu().memory.empty("y", 64))


# ---- loops ------------------------------------------------------------------------------------------------------


def test_a_loop_counts_plain_integers_and_registers_alike():
    @kernel
    def sums(t, by_integers, by_registers, by_end):
        for out, bounds in ((by_integers, (2, 7)), (by_registers, (t.id * 0 + 2, t.id * 0 + 7)), (by_end, (7,))):
            total = t.var(0)
            for i in t.range(*bounds):
                total.set(total + i)
            t.store(out, t.id, total)

    gpu = new_gpu()
    outs = [gpu.memory.empty(name, 64) for name in ("a", "b", "c")]
    launch(sums, *outs, gpu=gpu)
    assert [set(out.host.tolist()) for out in outs] == [{20}, {20}, {21}]


@pytest.mark.parametrize(("bounds", "said"), [((0, 5, 0), "positive integer, not 0"), ((0, 2.5), "not 2.5")])
def test_a_loop_that_would_never_end_or_count_fractions_is_refused(bounds, said):
    @kernel
    def loops(t, x):
        for i in t.range(*bounds):
            t.store(x, t.id, i)

    with pytest.raises(KernelError, match=said):
        launch(loops, new_gpu().memory.empty("x", 64))


# ---- graphs of other libraries ----------------------------------------------------------------------------------


def test_networkx_and_scipy_graphs_are_taken():
    path = networkx.path_graph(10)
    result = warpsift.simulate("bfs", path, source=0)
    assert result.check == "pass" and result.values.tolist() == list(range(10))
    matrix = scipy.sparse.csr_array(networkx.to_scipy_sparse_array(path))
    assert warpsift.simulate("bfs", matrix, source=0).values.tolist() == list(range(10))
    assert warpsift.load_graph(networkx.DiGraph([(0, 1), (1, 2)]), symmetrise=True).edges == 4


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (np.eye(3), r"a numpy.ndarray is not a graph: .* write scipy.sparse.csr_array\(matrix\)"),
        ([(0, 1)], r"a list is not a graph: .* write CsrGraph.from_edges\(sources, targets\)"),
        (7, r"a int is not a graph: give a file's path, a name such as 'kron-14'"),
    ],
)
def test_anything_else_says_what_to_give(value, said):
    with pytest.raises(GraphError, match=said):
        warpsift.simulate("bfs", value)
    with pytest.raises(GraphError, match=said):
        warpsift.load_graph(value)


# ---- names that do not exist ------------------------------------------------------------------------------------


@kernel
def misspells_a_call(t, x):
    t.stoer(x, t.id, 1)


@kernel
def asks_something_else(t, x):
    x.nothing()


def test_a_call_that_threads_do_not_have_is_named():
    gpu = new_gpu()
    with pytest.raises(KernelError, match=r"^t\.stoer: kernels have no such call"):
        launch(misspells_a_call, gpu.memory.empty("x", 64), gpu=gpu)


def test_another_object_says_itself_what_it_lacks():
    gpu = new_gpu()
    with pytest.raises(AttributeError, match="'DeviceArray' object has no attribute 'nothing'"):
        launch(asks_something_else, gpu.memory.empty("x", 64), gpu=gpu)
