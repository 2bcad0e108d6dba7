"""Seeded graph generators, one file per family; `names.py` holds the table that maps names to them."""
