"""The source `mlp`: Kissane's notebook on modular addition in a network without attention."""
