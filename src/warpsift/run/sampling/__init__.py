"""Sampled runs: from what an engine has timed to an estimate of all, with an interval for every number."""
