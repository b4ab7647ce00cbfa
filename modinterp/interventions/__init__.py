"""Interventions on circles and other blocks inside a network: turn, remove, restore, swap, each with its controls."""
