"""What the activations and weights amount to: pure functions from tensors to small frozen results."""
