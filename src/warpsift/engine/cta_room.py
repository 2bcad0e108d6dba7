"""What a CTA takes of an SM, and whether there is room for one."""

from __future__ import annotations

from warpsift.engine.engine_error import EngineError
from warpsift.hardware import WARP_SIZE
from warpsift.machines.spec import Machine, Sm
from warpsift.simt.stream import LaunchInfo

REGISTER_UNIT = 8  # per thread: 256 for a warp (CUDA occupancy calculator, compute capability 3.0 and later)


def registers_per_cta(sm: Sm, launch: LaunchInfo) -> int:
    """0 if the machine does not limit them, or the launch does not say."""
    if sm.registers == 0:
        return 0
    per_thread = -(-launch.registers_per_thread // REGISTER_UNIT) * REGISTER_UNIT
    return launch.warps_per_cta * WARP_SIZE * per_thread


def ctas_per_sm(sm: Sm, launch: LaunchInfo) -> int:
    """CTAs of a launch that an SM holds at once."""
    registers = registers_per_cta(sm, launch)
    room = [sm.ctas, sm.warps // launch.warps_per_cta, sm.threads // (launch.warps_per_cta * WARP_SIZE)]
    if launch.shared_bytes_per_cta:
        room.append(sm.shared_bytes // launch.shared_bytes_per_cta)
    if registers:
        room.append(sm.registers // registers)
    return min(room)


def check_fits(machine: Machine, launch: LaunchInfo) -> None:
    """Refuse a launch whose CTAs are larger than an SM."""
    sm = machine.sm
    needs = (
        ("threads", launch.warps_per_cta * WARP_SIZE, "sm.threads", sm.threads),
        ("warps", launch.warps_per_cta, "sm.warps", sm.warps),
        ("bytes of shared memory", launch.shared_bytes_per_cta, "sm.shared_bytes", sm.shared_bytes),
        ("registers", registers_per_cta(sm, launch), "sm.registers", sm.registers),
    )
    for what, wanted, key, limit in needs:
        if wanted > limit:
            raise EngineError(
                f"kernel {launch.kernel!r} needs {wanted} {what} per CTA, but {key} of {machine.name!r} is {limit}"
            )
