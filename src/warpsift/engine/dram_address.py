"""The cut of an address into bank, row and column, as the machine file says it: see machines/dram_address.py."""

from warpsift.machines.dram_address import FIELDS, MAX_PIECES, field_value, log2, parse_address_map, width_of

__all__ = ["FIELDS", "MAX_PIECES", "field_value", "log2", "parse_address_map", "width_of"]
