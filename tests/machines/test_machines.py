"""Machine files: every one loads, overrides and inheritance work, and errors name the key."""

import pytest

from warpsift.machines import MachineError, load_machine, machine_keys, machine_names, machine_parameters


def test_all_machines_load():
    assert {"gtx980", "tx1", "gtx480", "gtx480-gpgpusim4", "titanx"} <= set(machine_names())
    for name in machine_names():
        machine = load_machine(name)
        assert machine.name == name
        assert machine.description


@pytest.mark.parametrize(
    ("name", "gigabytes_per_second"), [("gtx980", 224.4), ("tx1", 25.6), ("gtx480", 177.4), ("gtx480-gpgpusim4", 177.4)]
)
def test_peak_bandwidth_is_the_cards(name, gigabytes_per_second):
    assert load_machine(name).peak_dram_bytes_per_second / 1e9 == pytest.approx(gigabytes_per_second, rel=1e-3)


def test_parameters_of_the_papers():
    gtx980, tx1, gtx480 = (load_machine(name) for name in ("gtx980", "tx1", "gtx480"))
    assert (gtx980.sm.count, gtx980.clocks.core_mhz, gtx980.l2.size_bytes) == (16, 1270, 2 << 20)
    assert (tx1.sm.count, tx1.clocks.core_mhz, tx1.l2.size_bytes, tx1.dram.kind) == (2, 1000, 256 << 10, "lpddr4")
    assert (gtx480.sm.count, gtx480.l1.size_bytes, gtx480.l1.mshrs, gtx480.l2.size_bytes) == (15, 16384, 32, 786432)


def test_overrides_take_text_and_numbers():
    machine = load_machine("gtx980", {"l2.size_bytes": "4194304", "sm.policy": "lrr", "ideal.dram": "true"})
    assert (machine.l2.size_bytes, machine.sm.policy, machine.ideal.dram) == (4194304, "lrr", True)
    assert load_machine("gtx980", {"dram.timing.cl": 30}).dram.timing.cl == 30


def test_a_file_extends_another(tmp_path):
    (tmp_path / "mine.toml").write_text('extends = "gtx980"\n[l2]\nsize_bytes = 1048576\n')
    mine = load_machine(tmp_path / "mine.toml")
    assert (mine.name, mine.l2.size_bytes, mine.sm.count) == ("mine", 1 << 20, 16)
    (tmp_path / "child.toml").write_text('extends = "mine"\n[dram]\nextends = "lpddr4-3200-tx1"\n')
    assert load_machine(tmp_path / "child.toml").dram.kind == "lpddr4"


def test_parameters_are_flat_and_complete():
    parameters = machine_parameters(load_machine("gtx980"))
    assert parameters["l2.size_bytes"] == 2 << 20
    assert set(parameters) == set(machine_keys())


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"clocks.core_mhs": 1},
            "unknown machine key 'clocks.core_mhs': did you mean 'clocks.core_mhz'? "
            "choose one of clocks.core_mhz, clocks.noc_mhz, clocks.l2_mhz",
        ),
        (
            {"l2.wasy": 1},
            "unknown machine key 'l2.wasy': did you mean 'l2.ways' or 'l2.halves'? ('warpsift list keys' lists all)",
        ),
        ({"l2.ways": "many"}, "machine 'gtx980': key 'l2.ways': Expected `int`, got `str`"),
        (
            {"l1.size_bytes": 1000},
            "machine 'gtx980': l1.size_bytes = 1000 is not a multiple of l1.ways x 128 = 512",
        ),
        (
            {"sm.count": 0},
            "machine 'gtx980': sm.count = 0: write 1 to 255 SMs (each is a port of the crossbar, and a special unit "
            "may need one)",
        ),
        (
            {"sm.warps": 128},
            "machine 'gtx980': sm.warps = 128: write 1 to 64 warps (the warps of an SM are the bits of one "
            "64-bit word)",
        ),
        (
            {"dram.channels": 3},
            "machine 'gtx980': l2.slices = 16 is not a multiple of dram.channels = 3",
        ),
        (
            {"noc.speedup": 2},
            "machine 'gtx980': noc.speedup = 2 needs noc.output_buffer_flits: a port takes one flit per cycle",
        ),
        (
            {"noc.buffer_flits": 2},
            "machine 'gtx980': noc.buffer_flits = 2 cannot hold a line of 4 flits",
        ),
    ],
)
def test_errors_name_the_key(overrides, message):
    with pytest.raises(MachineError) as error:
        load_machine("gtx980", overrides)
    assert str(error.value) == message


def test_unknown_machines_and_broken_files(tmp_path):
    with pytest.raises(MachineError, match="no machine 'gtx9': did you mean 'gtx980' or 'gtx480'"):
        load_machine("gtx9")
    with pytest.raises(MachineError) as error:
        load_machine("qqqq")
    assert str(error.value) == (
        "no machine 'qqqq': choose one of a100, gtx480, gtx480-gpgpusim3, ... ('warpsift list machines' lists all), "
        "or give the path of a .toml file"
    )
    (tmp_path / "a.toml").write_text('extends = "a"\n')
    with pytest.raises(MachineError, match="extends itself"):
        load_machine(tmp_path / "a.toml")
    (tmp_path / "b.toml").write_text("[l2\n")
    with pytest.raises(MachineError, match=r"b\.toml"):
        load_machine(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_text('extends = "gtx980"\n[dram]\nextends = "sdram"\n')
    with pytest.raises(MachineError, match=r"no memory 'sdram' for dram\.extends: choose one of "):
        load_machine(tmp_path / "c.toml")
    (tmp_path / "d.toml").write_text('extends = "gtx980"\n[l3]\nsize_bytes = 1\n')
    with pytest.raises(MachineError, match=r"unknown machine key 'l3\.size_bytes'"):
        load_machine(tmp_path / "d.toml")
