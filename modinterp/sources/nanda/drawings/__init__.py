"""Draw the figures and tables of Nanda et al. 2023 from our runs."""

from modinterp.sources.nanda.drawings import network, rounding, seeds, sequences, sweeps, tables

FIGURES = {
    **network.FIGURES,
    **rounding.FIGURES,
    **seeds.FIGURES,
    **sweeps.FIGURES,
    **sequences.FIGURES,
    **tables.FIGURES,
}
