"""Reproduce a source: measure its claims and figures, and write them as one table and one page."""
