import torch

import modinterp as mi

x = torch.linspace(0, 3, 20)

# %% curves
figure = mi.figures.measured.curves({"x squared": (x, x * x), "x": (x, x)}, ("x", "value"), "One grows faster")
