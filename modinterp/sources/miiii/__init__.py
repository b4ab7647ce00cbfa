"""The source `miiii`: Syrkis & Søgaard 2024, on networks that give the remainders of one number by many primes at once."""
