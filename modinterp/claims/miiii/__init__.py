"""Syrkis & Søgaard 2024: remainders by many primes at once (MIIII)."""

from modinterp.claims.miiii import (
    contradictions,
    embeddings,
    generalisation,
    hyperparameters,
    logging,
    network,
    neurons,
    task,
    training,
)

CONTRADICTIONS = contradictions.CONTRADICTIONS
SECTIONS = (task, network, training, hyperparameters, generalisation, neurons, embeddings, logging)
CLAIMS = {claim.id: claim for section in SECTIONS for claim in section.CLAIMS}
