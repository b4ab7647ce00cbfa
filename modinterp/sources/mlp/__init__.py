"""Kissane's notebook: modular addition in a network without attention."""
