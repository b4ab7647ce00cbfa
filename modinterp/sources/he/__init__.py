"""He, Wang, Chen and Yang 2026: the lottery of frequencies in one-hot networks without biases."""
