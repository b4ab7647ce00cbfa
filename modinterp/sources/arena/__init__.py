"""ARENA's monthly algorithmic problems: sorting, sums with carries, running sums."""
