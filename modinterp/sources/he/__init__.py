"""The source `he`: He, Wang, Chen and Yang 2026, on how one-hot networks without biases choose their frequencies."""
