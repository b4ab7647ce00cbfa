"""Whole networks: one row of numbers for a network, and null distributions for what was measured."""
