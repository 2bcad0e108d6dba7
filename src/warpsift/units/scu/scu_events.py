"""What costs energy in the SCU: one line per stage of its pipeline (SCU paper, Figs. 7 and 8), per element."""

from warpsift.costs.events import Event

EVENTS = (
    Event("scu_address", "scu.address_generator", {"scu_addresses": 1}),
    Event("scu_fetch", "scu.data_fetch", {"scu_addresses": 1}),
    Event("scu_coalesce", "scu.coalescing_units", {"scu_addresses": 1, "scu_hash_probes": 1}),
    Event("scu_compare", "scu.bitmask_constructor", {"scu_elements_compared": 1}),
    Event("scu_store", "scu.data_store", {"scu_elements_stored": 1}),
    Event("scu_hash", "scu.filtering_grouping", {"scu_hash_probes": 1}),
)
