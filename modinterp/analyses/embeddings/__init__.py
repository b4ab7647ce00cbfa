"""Embeddings: positions, singular vectors and their periodicity, and the numbers that two digits write."""
