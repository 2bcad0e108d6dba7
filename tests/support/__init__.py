"""What several tests use: streams written by hand, sinks that keep everything, the command line, small sweeps."""
