"""Cache bandwidth is that of a warm cache: what is timed brings nothing from memory."""

from warpsift.engine import Engine
from warpsift.validation import card_bandwidth


def test_both_halves_of_the_l2_hold_what_all_sms_share_before_it_is_timed(monkeypatch):
    fills, close = [], Engine.close

    def look_and_close(self):
        fills.extend(launch.counters["l2_fills"] for launch in self.launches)
        close(self)

    monkeypatch.setattr(Engine, "close", look_and_close)
    card_bandwidth.shared_gbs("a100", 1024)
    assert fills[0] > 0 and fills[1:] == [0, 0]
