import modinterp as mi
from modinterp.analyses.embeddings.singular_vectors import amplitudes

m = mi.measure(mi.load("miiii/p113-half-0"))

# %% positions
figure = mi.figures.embeddings.positions({"remainders, p = 113": m.W_pos})

# %% singular_values
figure = mi.figures.embeddings.singular_values({"remainders, p = 113": m.embedding_svd})

# %% singular_vectors
figure = mi.figures.embeddings.singular_vectors(m.embedding_svd, m.singular_vectors, "remainders, p = 113")

# %% spectrum
figure = mi.figures.embeddings.spectrum(amplitudes(m.W_E), "remainders, p = 113")
