"""Readers, one file per format; `formats.py` holds the table of them and tells formats apart."""
