"""The blog post on the Clock algorithm: circles that attention and the MLP turn."""
