"""The source `clock`: a blog post on the Clock algorithm, in which attention and the MLP turn circles."""
