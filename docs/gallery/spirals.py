import torch

import modinterp as mi
from modinterp.analyses.embeddings.primality import multiples
from modinterp.tasks import PrimeRemainders, primes_below

# %% polar
sets = {"multiples of 11": multiples([11], 113**2), "primes": torch.tensor(primes_below(113**2))}
figure = mi.figures.spirals.polar(sets, (6.2832, 11.0, 23.0))

# %% primality_calls
m = mi.measure(mi.load("miiii/p113-half-0"))
numbers, prime = PrimeRemainders(113).numbers(), torch.tensor(primes_below(113**2))
called = (m.predicted != 0).all(dim=1)
is_prime = torch.isin(numbers, prime)
groups = {"primes found": numbers[called & is_prime], "others called prime": numbers[called & ~is_prime]}
figure = mi.figures.spirals.primality_calls(groups, "Primes by remainders alone")
