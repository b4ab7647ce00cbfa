"""Find the group that a network composes, by its given name, the shapes of the weights, or its answers."""

from __future__ import annotations

from dataclasses import replace

from modinterp.activations import logits_on_grid
from modinterp.explain.said import OPPOSITE, Said
from modinterp.measurements.memory import check_memory
from modinterp.models import Network, Weights, from_state_dict, modular_task, with_tokens_of
from modinterp.tasks import Group, ModularArithmetic


def named_group(said: Said) -> Group:
    """Return the group of the given name, with its factors in the given order.

    Raises:
        FileNotFoundError: the CSV file of the group does not exist.
        ValueError: no group has this name, or the table is not a group's.
    """
    group = Group.of(said.group or "", said.elements)
    if said.op != OPPOSITE:
        return group
    written = tuple(map(group.written, range(group.n)))
    opposite = Group.of_table(group.table.T.tolist(), f"{group.group}, of b a,", written)
    return replace(opposite, equals=group.equals, vocabularies=group.vocabularies)


def group_of_weights(weights: Weights, said: Said) -> Group:
    """Return the given group, with tokens that fit the shapes of the weights, or the group of the network's answers.

    Raises:
        ValueError: the weight shapes do not fit a network over pairs, or belong to a group of another order.
    """
    if said.is_own:
        pairs = modular_task(weights, "add", None, said.equals, said.vocabularies)
        return group_of_answers(from_state_dict(weights, pairs, said.forward_pass), pairs)
    group = named_group(said)
    try:
        return with_tokens_of(weights, group, said.equals, said.vocabularies)
    except ValueError as error:
        what = str(error).partition(";")[0]
        raise ValueError(
            f"{what}, the order of {group.group}; name the group whose elements the network composes"
        ) from error


def group_of_answers(network: Network, pairs: ModularArithmetic) -> Group:
    """Return the group whose multiplication table is a network's answers to all pairs.

    Raises:
        ValueError: the answers do not form the multiplication table of a group.
    """
    check_memory("the network", pairs, network)
    answers = logits_on_grid(network, pairs).argmax(dim=-1).tolist()
    try:
        return Group.of_table(
            answers, "the group of the network's answers", equals=pairs.equals, vocabularies=pairs.vocabularies
        )
    except ValueError as error:
        raise ValueError(
            f"the network's own answers do not form the table of a group ({error}); name the group with the "
            "option group"
        ) from None
