"""Intervene on circles and representations inside a network: rotate, remove, restore or swap them, with controls."""
