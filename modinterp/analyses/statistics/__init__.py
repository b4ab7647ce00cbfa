"""Statistics that other analyses share: variance explained, lines, correlations, cosines."""
