"""Networks that order numbers: look-up tables, copying, ranks, permutations, bounds on the accuracy."""
