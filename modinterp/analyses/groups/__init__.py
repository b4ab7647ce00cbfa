"""Finite groups: their real representations, and what of a network lies in each of them."""
