"""Machines are kept once, and a run finds its own again."""

from __future__ import annotations

import pytest

from support.sweeping import points
from warpsift.store.store import Store, StoreError

RESULT = '{"check":"pass","cycles":7}'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.db"


def test_a_machine_is_kept_once(path):
    some, others = points(3, gpu="gtx980"), points(2, gpu="tx1")
    with Store(path) as ledger:
        for point in [*some, *others, *points(1)]:
            ledger.claim(point, "me")
            ledger.finish(point, RESULT, "host", 1.0)
        assert ledger._db.execute("SELECT count(*) FROM machines").fetchone() == (2,)
        found = {record.key: record.machine for record in ledger.records()}
        assert [found[point.key]["name"] for point in [*some, *others]] == ["gtx980"] * 3 + ["tx1"] * 2
        assert found[points(1)[0].key] is None
        assert ledger.record(some[0].key).machine == found[some[0].key]


@pytest.mark.parametrize("damage", ["DELETE FROM machines", "UPDATE machines SET machine = replace(machine, '1', '2')"])
def test_a_machine_that_is_lost_or_damaged(path, damage):
    (point,) = points(1, gpu="gtx980")
    with Store(path) as ledger:
        ledger.finish(point, RESULT, "host", 1.0)
        ledger._db.execute(damage)
        with pytest.raises(StoreError, match=f"the machine of run '{point.key[:8]}.*' is not complete, or damaged"):
            ledger.records()
