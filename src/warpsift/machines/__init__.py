"""Modelled GPUs: TOML files with the source of every number, and the typed specification they fill in."""
