"""ARENA's monthly algorithmic problems: running sums, sorted lists, palindromes."""
