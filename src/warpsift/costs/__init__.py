"""Energy, power and area: counters become joules, watts and square millimetres, every number with its source."""
