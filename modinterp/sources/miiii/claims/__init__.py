"""The claims of Syrkis & Søgaard 2024 (MIIII) on remainders by many primes at once, one file for each section."""

from modinterp.sources.miiii.claims import (
    contradictions,
    embeddings,
    generalisation,
    hyperparameters,
    illustrations,
    logging,
    network,
    neurons,
    positions,
    task,
    training,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (
    task,
    illustrations,
    network,
    training,
    hyperparameters,
    generalisation,
    neurons,
    positions,
    embeddings,
    logging,
)
CLAIMS = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
