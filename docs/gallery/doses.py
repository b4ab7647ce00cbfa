import modinterp as mi

causal = mi.measure(mi.load("pizza/attention-0-0")).causal

# %% turns
figure = mi.figures.doses.turns(causal.turn_response)

# %% scales
figure = mi.figures.doses.scales(causal.dose_response)

# %% onset
figure = mi.figures.doses.onset(mi.measure(mi.load("nanda/mainline-0")).causal.onset)
