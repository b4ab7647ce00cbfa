import modinterp as mi

m = mi.measure(mi.load("clock/no-pos-1"))
written, neurons = "blocks.0.hook_attn_out", "blocks.0.mlp.hook_post"
k = m.circles.attended_frequencies[0]

# %% circles_in_motion
directions = m.circles.plane_directions(written, k)
panels = {
    f"principal directions {2 * n + 1} and {2 * n + 2}": (k, m.activation(written) @ directions.pair(n)) for n in (0, 1)
}
figure = mi.figures.motion.circles_in_motion(
    panels, f"The circle of frequency {k}, a running", [(1, 2), (3, 4)], columns=2
)

# %% in_three_dimensions
points = m.activation(neurons) @ m.circles.plane_directions(neurons, k).directions[:, :3]
figure = mi.figures.motion.in_three_dimensions(
    points, k, f"Among the neurons the circle of frequency {k} revolves and turns"
)
