import modinterp as mi
from modinterp.analyses.circles.circle import plane_angles

m = mi.measure(mi.load("clock/no-pos-1"))
written = "blocks.0.hook_attn_out"

# %% planes
panels = {f"frequency {k}": (k, m.W_E.double() @ m.circles.planes[k]) for k in m.freqs}
figure = mi.figures.circles.planes(panels, "The embedding lies on circles", "W_E", columns=4)

# %% dihedral_angles
angles = {(i, j): plane_angles(m.circles.planes[i], m.circles.own_plane(written, j)) for i in m.freqs for j in m.freqs}
figure = mi.figures.circles.dihedral_angles(angles, m.freqs)

# %% sorted_biases
lengths = {k: (m.W_in.double().T @ m.circles.own_plane(written, k)).norm(dim=1) for k in m.freqs}
figure = mi.figures.circles.sorted_biases(m.b_in, lengths, m.freqs)
