import modinterp as mi

m = mi.measure(mi.load("nanda/mainline-0"))

# %% histogram_and_cluster
figure = mi.figures.neurons.histogram_and_cluster(m.neurons, m.W_L, m.freqs[0])

# %% neuron_and_transform
figure = mi.figures.neurons.neuron_and_transform(m.post[..., 0], 30, "A neuron is a few waves")
