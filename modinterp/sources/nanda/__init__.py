"""Nanda et al. 2023: how a transformer adds modulo 113, and what its test loss does not show."""
