import modinterp as mi

causal = mi.measure(mi.load("pizza/attention-0-0")).causal

# %% dose_response
title = "Small circles answer nothing; turned circles answer as well as before"
figure = mi.figures.dose_response.dose_response(causal.dose_response, causal.turn_response, title)

# %% dial
figure = mi.figures.dose_response.dial(causal.dial, "The logits turn with the circles: drag the slider")

# %% cross_effects
title = "Turning one circle by 45 degrees turns its own wave in the logits"
figure = mi.figures.dose_response.cross_effects(causal.cross_effects, causal.half_turn.freqs, title)

# %% onset
figure = mi.figures.dose_response.onset(mi.measure(mi.load("nanda/mainline-0")).causal.onset)
