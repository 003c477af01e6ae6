"""Invariants of a store, one file per family, and how to restore those that do not hold.

A family checks and, where it can, repairs. `registry` has them all; layers above register theirs.
"""
