"""What every GPU modelled here has in common; everything else is a number of a machine file.

Warps of 32 threads (CUDA), lines of 128 bytes at the coalescer, L1 and L2, and sectors of 32 bytes, the smallest piece
that moves below the coalescer (CUDA C++ Best Practices Guide, coalesced access to global memory: 32-byte
transactions; a line is four of them).
"""

WARP_SIZE = 32
LINE_BYTES = 128
SECTOR_BYTES = 32
SECTORS_PER_LINE = LINE_BYTES // SECTOR_BYTES
