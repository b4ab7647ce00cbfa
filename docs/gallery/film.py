import modinterp as mi
from modinterp.figures.film import Still

m = mi.measure(mi.load("nanda/mainline-0"))
neurons = [neurons[0] for neurons in m.neurons.clusters().values()][:4]

# %% film
stills = []
for epoch, network in list(m.networks())[::3]:
    cache = mi.activations.activations(network, m.task, ("blocks.0.mlp.hook_post",))
    active = cache["blocks.0.mlp.hook_post"][..., neurons].permute(2, 0, 1)
    stills.append(Still(epoch, network.W_E[: m.p].detach().double(), active, cache["logits"][..., 0]))
figure = mi.figures.film.film(stills, m.history, m.progress, m.freqs, [f"neuron {n}" for n in neurons])
