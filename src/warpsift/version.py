"""The version of the package, here and nowhere else; pyproject.toml reads it from this file."""

__version__ = "0.2.0"
