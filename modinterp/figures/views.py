"""Draw one neuron, one head or one circle of a network, or a network without some parts."""

from __future__ import annotations

import plotly.graph_objects as go

from modinterp.figures import circles, grids, neurons
from modinterp.figures.theme import with_title
from modinterp.measurements.swapped import Swapped
from modinterp.measurements.turned import Turned
from modinterp.measurements.views import DRAWERS, CircleOf, Head, Neuron, Without

CORNER = 30  # components of the 2D transform that are shown


def _neuron(view: Neuron) -> go.Figure:
    """Draw the activation of a neuron over all pairs, and its 2D transform."""
    corner = min(CORNER, len(view.map))
    title = f"Neuron {view.index}: {view.explained:.0%} of its variance is at {view.block}"
    return neurons.neuron_and_transform(view.map, corner, title)


def _head(view: Head) -> go.Figure:
    """Draw the attention of a head from the last position to the first number, over all pairs."""
    title = f"Head {view.index}: {view.explained:.0%} of its attention's variance is at {view.block}"
    return grids.maps({f"head {view.index}": view.pattern}, "attention to a", title, zmax=1)


def _circle(view: CircleOf) -> go.Figure:
    """Draw the embedding of every number in the plane of a circle."""
    title = f"Circle of frequency {view.freq}: {view.share:.1%} of the embedding's energy"
    return circles.planes({f"frequency {view.freq}": (view.freq, view.points)}, title, "W_E")


def _without(view: Without) -> go.Figure:
    """Draw the loss of a network before and after some parts were removed, on a logarithmic axis."""
    figure = go.Figure()
    for name, scores in (("unchanged network", view.before), ("network without the parts", view.after)):
        losses = [score.loss for score in scores.values()]
        figure.add_trace(go.Bar(x=list(scores), y=losses, name=name))
    figure.update_yaxes(type="log", title="loss [nats]", exponentformat="power")
    figure.update_xaxes(title="pairs evaluated")
    return with_title(figure, f"Loss with {view.parts} removed at the {view.site}", 360)


def _turned(view: Turned) -> go.Figure:
    """Draw the share of pairs whose answer changed as predicted, together with controls."""
    shares = {"circles": view.moved} | view.controls
    figure = go.Figure(go.Bar(x=list(shares), y=list(shares.values())))
    figure.update_yaxes(title="share of pairs that change as predicted", range=[0, 1])
    figure.update_xaxes(title="part that was changed")
    circles_turned = ", ".join(map(str, view.freqs))
    turns = f"{view.step_a:g} and {view.step_b:g} steps"
    title = f"Answers change by {view.moved_by} when circles {circles_turned} rotate by {turns}"
    return with_title(figure, title, 360, False)


def _swapped(view: Swapped) -> go.Figure:
    """Draw the share of pairs that give another pair's answer when they receive a part of its activations, with
    controls.
    """
    shares = {view.parts: view.to_other} | view.controls
    figure = go.Figure(go.Bar(x=list(shares), y=list(shares.values())))
    figure.update_yaxes(title="share of pairs with the other answer", range=[0, 1])
    figure.update_xaxes(title="part that was exchanged")
    return with_title(figure, f"Share of pairs that get another pair's answer after a swap at {view.hook}", 360, False)


DRAWERS.update({Neuron: _neuron, Head: _head, CircleOf: _circle, Without: _without, Turned: _turned, Swapped: _swapped})
