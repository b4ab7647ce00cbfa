import modinterp as mi

m = mi.measure(mi.load("arena/sort-42"))

# %% by_kind
figure = mi.figures.positions.by_kind(m.answering.by_kind(), "After a large step the next number is missed more often")

# %% attention
layers = [dict(enumerate(layer)) for layer in m.inside.attention]
heads = {f"head {layer}.{h}": pattern for layer, some in enumerate(layers) for h, pattern in some.items()}
figure = mi.figures.positions.attention(heads, m.task.position_names, "Each copy looks back at the list")

# %% effects
figure = mi.figures.positions.effects(m.inside.effects, "Head 0.1 copies most numbers, and head 0.0 the rest")
