"""The Stream Compaction Unit as hardware, in Amaranth, from the same `ScuSpec` that the simulator uses.

Needs the optional tools: pip install 'warpsift[hdl]'. Nothing else in the package imports this one.
"""
