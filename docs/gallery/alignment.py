import modinterp as mi
from modinterp.analyses.circles.alignment import gains

m = mi.measure(mi.load("clock/no-pos-1"))
neurons, written = "blocks.0.mlp.hook_post", "blocks.0.hook_mlp_out"

# %% singular_values
factors = {k: gains(m.W_out, m.circles.plane_directions(neurons, k).directions[:, :4]) for k in m.freqs}
figure = mi.figures.alignment.singular_values(m.circles.singular_directions, factors, m.freqs)

# %% answers
planes = {k: m.circles.plane_directions(written, k).pair(0) for k in m.freqs}
points = {k: m.activation(written)[m.circles.fixed_a] @ plane for k, plane in planes.items()}
directions = {k: m.W_U.T @ plane for k, plane in planes.items()}
figure = mi.figures.alignment.answers(points, directions, {108: 65, 13: 83}, m.circles.fixed_a)
