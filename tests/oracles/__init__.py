"""Slow, obvious second implementations; they share nothing with what they are compared with."""
