"""ARENA's monthly algorithmic problems: running sums, lists, palindromes, letters, sums."""
