"""Executed instructions against nvcc's PTX, and the interpreter that counts them."""

import numpy as np
import pytest

from warpsift.errors import WarpsiftError
from warpsift.studies.instruction_counts.executed_comparison import PTX, compared
from warpsift.studies.instruction_counts.ptx_threads import Thread, read_programs
from warpsift.studies.instruction_counts.twin_kernels import TWINS

PROGRAMS = read_programs(PTX.read_text(encoding="utf-8"))
COUNTDOWN = """
.visible .entry countdown(
	.param .u64 countdown_param_0,
	.param .u32 countdown_param_1
)
{
	.reg .pred %p<2>;
	ld.param.u64 %rd1, [countdown_param_0];
	ld.param.u32 %r1, [countdown_param_1];
	mov.u32 %r2, %tid.x;
	setp.ge.s32 %p1, %r2, %r1;
	@%p1 bra $L__BB0_3;
$L__BB0_2:
	atom.global.add.u32 %r3, [%rd1+4], -1;
	add.s32 %r2, %r2, 1;
	setp.lt.s32 %p1, %r2, %r1;
	@%p1 bra $L__BB0_2;
$L__BB0_3:
	ret;
}
"""


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_instructions_are_within_a_sixth_of_nvccs_and_answers_the_same(twin):
    count, theirs = compared(twin, PROGRAMS[twin.name])
    assert count == pytest.approx(theirs, rel=1 / 6)


@pytest.mark.parametrize(("number", "executed"), [(0, 5 + 3 * 4 + 1), (2, 5 + 4 + 1), (3, 6)])
def test_a_thread_counts_what_it_executes(number, executed):
    memory = bytearray(np.array([7, 10], np.uint32).tobytes())
    thread = Thread(read_programs(COUNTDOWN)["countdown"], memory, (0, 3), {"%tid.x": number})
    assert thread.run() == executed
    assert np.frombuffer(memory, np.uint32).tolist() == [7, 10 - (3 - number)]


def test_an_unknown_instruction_is_named():
    text = COUNTDOWN.replace("mov.u32 %r2, %tid.x", "brev.b32 %r2, %tid.x")
    with pytest.raises(WarpsiftError, match=r"^PTX instruction 'brev.b32' is not among those that are counted here$"):
        Thread(read_programs(text)["countdown"], bytearray(8), (0, 3), {"%tid.x": 0}).run()
