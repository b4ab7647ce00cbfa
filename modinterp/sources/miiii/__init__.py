"""Syrkis & Søgaard 2024 (MIIII): the remainders of one number by many primes at once."""
