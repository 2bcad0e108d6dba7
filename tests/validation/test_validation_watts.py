"""The model beside measured watts of a V100: the error as stated, the profiler's names, the fit apart."""

import csv

import pytest

from support.command_line import call
from warpsift.costs.coefficients import gpu_table
from warpsift.errors import WarpsiftError
from warpsift.validation import watts


@pytest.fixture(scope="module")
def found():
    return watts.rows()


def test_mean_absolute_error_without_a_fit(found):
    assert sum(row.measured_w is not None for row in found) == 13
    assert watts.mean_absolute_error(found) == pytest.approx(0.120, abs=0.003)
    assert watts.mean_absolute_error(found, limited=False) == pytest.approx(0.132, abs=0.003)


def test_predictions_are_those_that_were_written_down_first(found):
    with (watts.DATA / "v100_predicted.csv").open() as file:
        stated = {row["kernel"]: float(row["predicted_watts"]) for row in csv.DictReader(file)}
    assert {row.kernel: row.unlimited_w for row in found} == pytest.approx(stated, abs=0.06)


def test_no_kernel_is_given_more_than_the_boards_limit(found):
    limit = gpu_table("v100").limits["tdp_w"]
    assert max(row.ours_w for row in found) == limit < max(row.unlimited_w for row in found)


def test_parts_are_the_whole(found):
    for row in found:
        assert sum(row.by_part_w.values()) == pytest.approx(row.unlimited_w)


def test_names_of_the_profiler():
    row = dict.fromkeys(
        [
            "L1_RH",
            "L1_RM",
            "L1_WH",
            "L1_WM",
            "CC_ACC",
            "SHRD_ACC",
            "DRAM_Rd",
            "DRAM_Wr",
            "L2_RH",
            "L2_RM",
            "L2_WH",
            "L2_WM",
            "NOC",
        ],
        0.0,
    )
    row |= {"Pipeline_Duty": 0.8, "Num_Idle_SMs": 20.0, "Elapsed_Cycles": 1417e6}
    mapped = watts.engine_counters("some_k1", row)
    assert mapped["seconds"] == pytest.approx(1.0) and mapped["sm_active_seconds"] == pytest.approx(60.0)
    # A duty of 0.8 is one pipe of each of four partitions always busy: 64 lanes of 80 SMs
    assert mapped["thread_instructions"] == pytest.approx(64 * 80 * 1417e6)
    tensor = watts.engine_counters("cutlass_k9", row)
    assert tensor["thread_instructions"] == pytest.approx(mapped["thread_instructions"] / 2)
    moved = watts.engine_counters("some_k1", row | {"L1_RH": 400.0, "L1_RM": 40.0, "SHRD_ACC": 7.0, "NOC": 10.0})
    assert moved["load_instructions"] == pytest.approx(110.0) and moved["l1_fills"] == 40.0
    assert moved["shared_passes"] == 7.0 and moved["request_flits_sent"] + moved["reply_flits_sent"] == 10.0


def test_the_instruction_price_follows_from_the_tdp():
    """The derivation in the table, by the table's own figures."""
    table = gpu_table("v100")
    price = {name: c.value for name, c in table.coefficients.items()}
    memory = 870e9 / 32 * (price["dram_read"] + price["dram_io_read"])
    rest = table.limits["tdp_w"] - price["board"] - price["sm_clock"] - memory
    lane = rest / (14.8e12 / 2) - price["warp_instruction"] / 32 - 3 * price["register_access"] / 32
    assert price["lane_instruction"] == pytest.approx(lane - price["float_lane_op"], rel=0.01)


def test_the_fit_is_apart_and_left_out_kernels_are_worse(found):
    fitted = watts.fit(found)
    measured = {row.kernel: row.measured_w for row in found if row.measured_w}
    assert set(fitted.watts) == set(fitted.left_out_watts) == set(measured)

    def error(of):
        return sum(abs(of[k] / w - 1) for k, w in measured.items()) / len(measured)

    assert error(fitted.watts) < error(fitted.left_out_watts) < watts.mean_absolute_error(found)


def test_command_and_refusals(tmp_path):
    shown = call("validate", "watts").stdout
    assert "mean absolute error, ours: 12.0%" in shown and "each kernel left out of its own fit" in shown
    own = tmp_path / "power.csv"
    own.write_text("kernel,mean_watts\nhotspot_k1,250\nbtree_k1,152.2\nsrad_v1_k1,193\ndct8x8_k1,90\n")
    assert "mean absolute error, ours: 0." in call("validate", "watts", "--power", str(own)).stdout
    own.write_text("kernel,mean_watts\nnothing_k1,250\n")
    with pytest.raises(WarpsiftError, match="no counters of nothing_k1"):
        watts.rows(watts=own)
