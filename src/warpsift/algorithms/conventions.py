"""Numbers that all algorithms agree on."""

THREADS_PER_CTA = 256
INFINITY = 1 << 30  # a distance or level that no path reaches; leaves room to add a weight
