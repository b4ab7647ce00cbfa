import modinterp as mi
from modinterp.runs.search import searches
from modinterp.sources.miiii.search import SPACE

search = searches(SPACE)[-1]

# %% parallel_coordinates
figure = mi.figures.search.parallel_coordinates(search)

# %% importances
figure = mi.figures.search.importances(search)
