"""The source `nanda`: Nanda et al. 2023, on how a transformer adds modulo 113, and on progress that its test loss
hides.
"""
