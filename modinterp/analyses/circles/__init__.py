"""Circles and planes of one frequency in activation space: petals, rotation, alignment and linearity."""
