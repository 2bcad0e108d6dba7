"""What a user may choose about triangle counting."""

from __future__ import annotations

from dataclasses import dataclass, fields

from warpsift.algorithms.common import OptionError, Options

RELABEL = ("auto", "always", "never")


@dataclass(frozen=True)
class TcOptions(Options):
    relabel: str = "auto"  # order nodes by degree: "always", "never" (by number), or "auto": if degrees are skewed
    per_node: bool = False  # the triangles through each node (three times as many updates), not only their number

    @classmethod
    def of(cls, options: Options) -> TcOptions:
        """These options, or plain ones with the defaults of what they lack."""
        if not isinstance(options, cls):
            options = cls(**{f.name: getattr(options, f.name) for f in fields(options)})
        if options.relabel not in RELABEL:
            raise OptionError(f"relabel must be 'auto', 'always' or 'never', not {options.relabel!r}")
        return options
