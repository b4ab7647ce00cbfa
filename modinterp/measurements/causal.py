"""Measure effects on a network's answers when circles or representations inside the network are changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from modinterp.analyses.fourier.cosine_sums import cosine_waves
from modinterp.analyses.fourier.frequencies import jaccard
from modinterp.bases import Frequencies
from modinterp.interventions.answered import BLOCK, Answered, Logits
from modinterp.interventions.at_neurons import AtNeurons
from modinterp.interventions.effects import (
    Cosines,
    Foretold,
    Synergy,
    crossed_pairs,
    largest_by_chance,
    lead,
    margins_of,
    pizza_share_of,
)
from modinterp.interventions.embedded import Changed, Embedded, Vectors
from modinterp.interventions.turning import (
    doubles,
    is_turnable,
    moved_at_random,
    step_along_line,
    turn,
    turn_angles,
    turn_of_random_planes,
)
from modinterp.measurements.component import Component
from modinterp.measurements.network import NoSuchPart
from modinterp.measurements.turned import Turned
from modinterp.tasks import cyclic

HALF = 0.5  # of a step: no token stands there
STRONG = 0.1  # share of the strongest cosine, or of the largest effect, from which a circle counts
SAMPLE = 2048  # pairs on which the removal of each circle is measured; half of them choose
DOSES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5, 2.0, 3.0)
STEPS = tuple(x / 4 for x in range(13))
CLOCK, PIZZA = 0.25, 0.75  # pizza shares below and above which a circle is of one kind


class Causal(Component[Any]):
    """Interventions on the embedding of a network over pairs, each with the predicted effect and with controls.

    Use interventions to test whether a network adds by circles; `m.formula_fit` only compares logits. For addition and
    subtraction, interventions rotate circles. Interventions remove, keep, scale and restore frequencies or
    representations. `docs/interventions.md` defines every intervention.
    """

    @cached_property
    def basis(self) -> Any:
        """Frequencies if the task is addition after relabelling, as in a cyclic group; else the network's basis."""
        found = cyclic(self.m.task)
        if found is None or isinstance(self.m.basis, Frequencies):
            return self.m.basis
        return Frequencies(found, "i + j", True, self.m.task.grid[0])

    @property
    def _in_order(self) -> bool:
        return self.basis is self.m.basis

    @cached_property
    def _embedded(self) -> Embedded:
        return Embedded(self.m.model, self.m.task, self.basis.order)

    @property
    def _logits(self) -> Logits:
        """Logits of the unchanged network, in the order of the basis."""
        if self._in_order:
            return self.m.logits
        return self.basis.arranged(self.m.grid["logits"], is_logits=True)

    @property
    def _seen_logits(self) -> Float[Tensor, "pair output"]:
        flat = self._logits.flatten(0, 1)
        return flat if self.pairs is None else flat[self.pairs.to(flat.device)]

    @property
    def _sign(self) -> int:
        if not isinstance(self.basis, Frequencies) or not self.basis.is_operation:
            raise NoSuchPart(f"{self.m.task.name} is no addition of angles, so no circles can be rotated")
        return self.basis.sign

    @property
    def _p(self) -> int:
        return self.basis.n

    @property
    def pairs(self) -> Int[Tensor, " pair"] | None:
        """Indices of the pairs on which interventions are measured, a sample for a large grid; None for all pairs."""
        return self.basis.some_pairs

    def _seen(self, of_all: Tensor) -> Tensor:
        """Restrict the values of all pairs to the pairs on which interventions are measured."""
        return of_all.flatten() if self.pairs is None else of_all.flatten()[self.pairs]

    def _share_right(self, given: Int[Tensor, "..."]) -> float:
        return float((given.flatten() == self._seen(self.basis.answers)).double().mean())

    def _answered(self, network: Changed, freqs: Sequence[int] = ()) -> Answered:
        return network.answered(getattr(self.basis, "sign", 1), freqs, self.pairs)

    @cached_property
    def _intact(self) -> Answered:
        """Answers of the unchanged network, and sums of its logits."""
        m, basis, n = self.m, self.basis, self._p
        is_cut = not n == m.classes == m.task.grid[0]
        if is_cut or not (self._in_order and isinstance(basis, Frequencies)) or basis.cyclic.is_renamed:
            return Answered.of(self._logits, getattr(basis, "sign", 1))
        return Answered.of_sums(m.logit_sums, m.given.cpu().view(n, n), basis.sign)

    # Which circles

    @cached_property
    def circles(self) -> tuple[int, ...]:
        """Circles to rotate: frequencies whose cosine in the logits exceeds a tenth of the strongest cosine.

        These frequencies come from the logits of all layers, so neurons that never fire do not count.
        """
        self._sign  # noqa: B018 - or there are no circles
        sizes = self._intact.spectrum.abs()
        return tuple((sizes > STRONG * sizes.max()).nonzero().flatten().add(1).tolist())

    @cached_property
    def circles_by_removal(self) -> tuple[Any, ...]:
        """Frequencies or representations without which the right logit falls by over a tenth of the largest fall.

        The first half of the sampled pairs chooses the frequencies for removal, and the second half tests them. On the
        second half, the right logit must fall at least half as much as on the first half. The fall on the second half
        must also exceed, in standard errors, the largest fall of any frequency in 99% of sign-flipping permutations.
        """
        chosen, tested = self._falls.unflatten(1, (2, -1)).unbind(dim=1)
        first, second, by_chance = chosen.mean(dim=1), tested.mean(dim=1), largest_by_chance(tested)
        errors = tested.std(dim=1) / tested.shape[1] ** 0.5
        counts = (first > STRONG * first.max()) & (second > STRONG * second.max() / 2) & (second > by_chance * errors)
        return tuple(block for block, count in zip(self.basis.all_blocks, counts.tolist(), strict=True) if count)

    @cached_property
    def _falls(self) -> Float[Tensor, "block pair"]:
        """Fall of each pair's right centred logit without each frequency or representation. [logits]"""
        a, b = self._embedded.tables
        n = self._p
        pairs = torch.randperm(n * n, generator=torch.Generator().manual_seed(0))[:SAMPLE]
        pairs = pairs[: len(pairs) // 2 * 2]  # two halves
        right = self.basis.answers[pairs, 0]

        def sizes(first: Vectors, second: Vectors) -> Float[Tensor, " pair"]:
            logits = self._embedded.at(first, second, pairs)
            return logits.gather(1, right[:, None])[:, 0] - logits.mean(dim=1)

        found = sizes(a, b).repeat(len(self.basis.all_blocks), 1)
        for row, block in zip(found, self.basis.all_blocks, strict=True):
            row -= sizes(a - self.basis.part(a, [block]), b - self.basis.part(b, [block]))
        return found

    @cached_property
    def agreement(self) -> float:
        """Smallest Jaccard index between three choices of circles: by read-out, by logit cosines, and by removal.

        Companions, which are circles of twice another circle's frequency, are left out of the circles by removal.
        """
        by_removal = set(self.circles_by_removal) - set(doubles(self.circles, self._p))
        sets = [set(self.circles), by_removal]
        if self._in_order:
            sets.append(set(self.m.freqs))
        return min(jaccard(x, y) for i, x in enumerate(sets) for y in sets[:i])

    @property
    def blocks(self) -> tuple[Any, ...]:
        """Parts that interventions remove: circles, with those of twice their frequency, or key representations."""
        if isinstance(self.basis, Frequencies) and self.basis.is_operation:
            return (*self.circles, *doubles(self.circles, self._p))
        return tuple(self.m.key_blocks)

    # Turning

    def turned(
        self, step_a: float = HALF, step_b: float = HALF, freqs: Sequence[int] | None = None, controls: bool = False
    ) -> Turned:
        """Return the network with the circles of both numbers rotated as if the numbers were larger by some steps.

        Args:
            step_a, step_b: rotation for a and for b, in residues; the answer is predicted to change by step_a + step_b.
            freqs: frequencies of the circles to rotate; by default `circles`. [cycles per p]
            controls: True to also measure changes of equal size for which no algorithm predicts an effect.
        Raises:
            NoSuchPart: the task does not add angles.
            NotRecorded: the network does not expose its embedding.
        """
        sign, p = self._sign, self._p
        some = tuple(self.circles if freqs is None else freqs)
        a, b = self._embedded.tables
        by_a, by_b = (turn_angles(some, p, step) for step in (step_a, sign * step_b))
        new_a, new_b = turn(p, by_a) @ a, turn(p, by_b) @ b
        network = self._embedded.changed(new_a, new_b)
        found, total = self._answered(network), step_a + step_b
        moved_by = int(total) if total == int(total) else None

        def share(of: Answered) -> float:
            return float("nan") if moved_by is None else float(of.moved(moved_by).double().mean())

        cosines = Cosines.of(self._intact, some, sign)
        kept = cosines.explained(found, total) / cosines.explained(self._intact)
        beside: dict[str, float] = {}
        if controls:
            beside["random planes"] = share(self._in_random_planes(list(by_a.values()), list(by_b.values())))
            random = self._embedded.changed(moved_at_random(a, new_a), moved_at_random(b, new_b, seed=1))
            beside["random directions, as far"] = share(self._answered(random))
            if others := self._other_circles(some):
                beside["other circles"] = share(self._turned_alone(others, step_a, sign * step_b))
        return Turned(some, step_a, step_b, moved_by, share(found), kept, network, found, beside)

    def _in_random_planes(self, by_a: list[float], by_b: list[float]) -> Answered:
        a, b = self._embedded.tables
        p = self._p
        return self._answered(
            self._embedded.changed(turn_of_random_planes(p, by_a) @ a, turn_of_random_planes(p, by_b) @ b)
        )

    def _turned_alone(self, freqs: Sequence[int], step_a: float, step_b: float) -> Answered:
        a, b = self._embedded.tables
        by_a, by_b = (turn_angles(freqs, self._p, step, companions=False) for step in (step_a, step_b))
        return self._answered(self._embedded.changed(turn(self._p, by_a) @ a, turn(self._p, by_b) @ b))

    def _other_circles(self, freqs: Sequence[int]) -> list[int]:
        """Return as many of the strongest other circles of the embedding, without circles of twice their frequency."""
        taken = {*freqs, *doubles(freqs, self._p)}
        energy = self.basis.energy_shares(self._embedded.tables[0])
        ranked = [k + 1 for k in energy.argsort(descending=True).tolist() if k + 1 not in taken]
        return ranked[: len(freqs)]

    @property
    def _few(self) -> tuple[int, ...]:
        """The value of `circles`, if there are few enough circles for a meaningful test.

        Raises:
            NoSuchPart: `circles` has more than half of all frequencies.
        """
        if not is_turnable(self.circles, self._p):
            raise NoSuchPart(
                f"the network uses {len(self.circles)} of {self._p // 2} circles, so there is no small set of "
                "circles to rotate"
            )
        return self.circles

    @cached_property
    def half_turn(self) -> Turned:
        """Effect of moving both numbers by half a step, midway between tokens: the answer should change by one."""
        return self.turned(freqs=self._few, controls=True)

    @cached_property
    def half_turn_alone(self) -> Turned:
        """Result of the intervention `half_turn`, without its controls."""
        return self.turned(freqs=self._few)

    @cached_property
    def half_turn_of_keys(self) -> Turned:
        """Effect of rotating the key frequencies of the read-out by half a step, for networks with many circles."""
        self._sign  # noqa: B018 - or no circles are turned
        keys = self.m.freqs if self._in_order else self.circles
        return self.turned(freqs=keys, controls=True)

    @cached_property
    def counter_turn(self) -> Turned:
        """Effect of moving one number half a step forward and the other half a step back: the answer should stay."""
        return self.turned(HALF, -HALF, self._few)

    @cached_property
    def turn_of_all(self) -> Turned:
        """Effect of rotating all circles by half a step, for a network that uses most frequencies."""
        self._sign  # noqa: B018 - or there are no circles
        return self.turned(freqs=[k for k in self.basis.all_blocks if 2 * k != self._p])

    @cached_property
    def moved_along_line(self) -> tuple[float, float]:
        """Share of pairs whose answer grows by one when a moves one step along a line of integers, with a control.

        The control moves every number as far, in a random direction.
        """
        a, _ = self._embedded.tables
        new = step_along_line(a)
        self._sign  # noqa: B018 - or no answer could move
        networks = self._embedded.changed(new), self._embedded.changed(moved_at_random(a, new))
        shares = [float(self._answered(one).moved(1).double().mean()) for one in networks]
        return shares[0], shares[1]

    @cached_property
    def pizza_shares(self) -> tuple[float, ...]:
        """Kind of each circle, measured when the embedding contains only this circle: 0 for a clock, 1 for a pizza."""
        return tuple(pizza_share_of(self._kept([k], [k]), k) for k in self._few)

    def count_of_kind(self, kind: str) -> int:
        """Return the number of circles of one kind: `clock`, `pizza` or `between`."""
        shares = self.pizza_shares
        clocks, pizzas = sum(x < CLOCK for x in shares), sum(x > PIZZA for x in shares)
        return {"clock": clocks, "pizza": pizzas, "between": len(shares) - clocks - pizzas}[kind]

    # Removing, keeping, restoring, scaling

    def _changed(
        self, change: Callable[[Vectors, Vectors], Vectors], blocks: Sequence[Any], freqs: Sequence[int] = ()
    ) -> Answered:
        """Return answers after `change` maps each embedding table, and its part at `blocks`, to a new table."""
        tables = (change(x, self.basis.part(x, blocks)) for x in self._embedded.tables)
        return self._answered(self._embedded.changed(*tables), freqs)

    def _kept(self, blocks: Sequence[Any], freqs: Sequence[int] = ()) -> Answered:
        return self._changed(lambda x, part: x.mean(dim=0) + part, blocks, freqs)

    @cached_property
    def _without_circles(self) -> Answered:
        """Answers, and sums of the logits, without the circles and their companions in the embedding."""
        return self._changed(lambda x, part: x - part, self.blocks)

    @property
    def accuracy_without(self) -> float:
        """Accuracy after removing the circles, and circles of twice their frequency, from the embedding."""
        return self._share_right(self._without_circles.given)

    @property
    def same_without(self) -> float:
        """Share of pairs with the same answer without the circles, and those of twice their frequency."""
        return float((self._without_circles.given.flatten() == self._seen(self._intact.given)).double().mean())

    @cached_property
    def accuracy_alone(self) -> float:
        """Accuracy if the embedding keeps only the circles, circles of twice their frequency, and the mean."""
        return self.accuracy_of(self.blocks)

    @cached_property
    def rescue(self) -> tuple[float, float]:
        """Recovered share of the accuracy when both embeddings come from another pair, except for the circles.

        The second number is a control: as many random circles, or representations, are restored.
        """
        return self._recovered(self.blocks), self._recovered(self._random_blocks)

    @property
    def _random_blocks(self) -> list[Any]:
        rest = [block for block in self.basis.all_blocks if block not in self.blocks]
        drawn = torch.randperm(len(rest), generator=torch.Generator().manual_seed(0))[: len(self.blocks)]
        return [rest[number] for number in drawn]

    def _recovered(self, blocks: Sequence[Any]) -> float:
        if not blocks:
            return float("nan")
        n = self._p
        own = self._seen(torch.arange(n * n))
        other = self._seen(torch.randperm(n * n, generator=torch.Generator().manual_seed(1)))
        parts = [(table - part, part) for table in self._embedded.tables for part in [self.basis.part(table, blocks)]]
        given = []
        for clean, mixed in zip(own.split(BLOCK), other.split(BLOCK), strict=True):
            (rest_a, own_a), (rest_b, own_b) = parts
            a, b = rest_a[mixed // n] + own_a[clean // n], rest_b[mixed % n] + own_b[clean % n]
            given.append(self._embedded.of_pairs(a, b, clean).argmax(dim=-1))
        rescued = self._share_right(torch.cat(given))
        corrupt = self._share_right(self._intact.given.flatten()[other])
        whole = self._share_right(self._seen(self._intact.given))
        return (rescued - corrupt) / (whole - corrupt) if whole > corrupt else float("nan")

    @cached_property
    def dose_response(self) -> pd.DataFrame:
        """Table of the accuracy on a sample of pairs after scaling the circles, or random circles."""
        rows, pairs = [], self._sample(torch.arange(self._p**2))
        right = self.basis.answers[pairs, 0]
        for dose in DOSES:
            own, beside = (
                self._of_sample(pairs, lambda x, part, by=dose: x + (by - 1) * part, blocks).argmax(dim=-1) == right
                for blocks in (self.blocks, self._random_blocks)
            )
            rows.append((dose, float(own.double().mean()), float(beside.double().mean())))
        return pd.DataFrame(rows, columns=["dose", "accuracy", "accuracy, other circles scaled"])

    @cached_property
    def _turns(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        cosines, p, sign = Cosines.of(self._intact, self._few, self._sign), self._p, self._sign
        whole, distance = cosines.explained(self._intact), torch.arange(self._p, dtype=torch.float64)
        kept, curves = [], []
        for step in STEPS:
            found = self.turned(step, step)
            by_a, by_b = (list(turn_angles(self._few, p, x).values()) for x in (step, sign * step))
            random = cosines.explained(self._in_random_planes(by_a, by_b), 2 * step)
            kept.append((step, found.kept, found.moved, random / whole))
            seen = found.answered.mean_by_distance.tolist()
            curves += zip([step] * p, range(p), seen, cosines.curve(distance - 2 * step).tolist(), strict=True)
        return (
            pd.DataFrame(kept, columns=["steps", "formula kept", "answers moved", "kept, random planes"]),
            pd.DataFrame(curves, columns=["steps", "distance", "logit", "foretold"]),
        )

    @property
    def turn_response(self) -> pd.DataFrame:
        """Table of the fit of the formula after rotating the circles, or random planes, by 0 to 3 steps."""
        return self._turns[0]

    @property
    def dial(self) -> pd.DataFrame:
        """Mean logit after rotating the circles of both numbers by 0 to 3 steps, and the formula's prediction. [logits]

        The table has one row for each step and each distance c - s of a class c from the right answer s.
        """
        return self._turns[1]

    @cached_property
    def cross_effects(self) -> Float[Tensor, "turned read"]:
        """Phase shift of each frequency in the logits when one circle of a is rotated by 45 degrees. [degrees]

        The algorithm predicts a shift of 45 degrees on the diagonal and 0 elsewhere.
        """
        freqs = self._few
        intact = Answered.of(iter(self._seen_logits.split(BLOCK)), self._sign, freqs, self.pairs)
        before = {k: intact.waves_about_answer(k).mean() for k in freqs}
        found, (table_a, _) = torch.zeros(len(freqs), len(freqs), dtype=torch.float64), self._embedded.tables
        for i, k in enumerate(freqs):
            turned = turn(self._p, turn_angles([k], self._p, self._p / (8 * k))) @ table_a
            now = self._answered(self._embedded.changed(turned), freqs)
            for j, other in enumerate(freqs):
                found[i, j] = (now.waves_about_answer(other).mean() / before[other]).angle()
        return found.rad2deg()

    @cached_property
    def margins_foretold(self) -> float:
        """Share of the variance of the margins that the formula predicts, when one circle at a time is removed.

        The formula has no free parameter, since its coefficients come from the intact network.
        """
        return self.foretold.explained

    @cached_property
    def foretold(self) -> Foretold:
        """Margins and wrong answers with each circle removed, as measured and as predicted by the formula."""
        cosines = Cosines.of(self._intact, self._few, self._sign)
        return Foretold.of(cosines, {k: self._changed(lambda x, part: x - part, [k]) for k in self._few})

    # On samples

    @property
    def held_out(self) -> Int[Tensor, " pair"]:
        """Indices of the held-out pairs, in the order of the basis; indices of all pairs if the split is unknown."""
        if not self.m.run.knows_split or not len(self.m.split.test):
            return torch.arange(self._p**2)
        return self.basis.rows(self.m.split.test)

    @staticmethod
    def _sample(pairs: Int[Tensor, " pair"], size: int = SAMPLE) -> Int[Tensor, " some"]:
        return pairs[torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0))[:size]]

    def _of_sample(
        self, pairs: Int[Tensor, " pair"], change: Callable[[Vectors, Vectors], Vectors], blocks: Sequence[Any]
    ) -> Float[Tensor, "pair output"]:
        """Return logits of some pairs after `change` maps each embedding table and its part at `blocks`."""
        a, b = (change(x, self.basis.part(x, blocks)) for x in self._embedded.tables)
        return self._embedded.at(a, b, pairs)

    @cached_property
    def without_each(self) -> pd.DataFrame:
        """The losses of a sample of held-out pairs without each circle in turn, one row per frequency.

        Columns of the table are `margin lost`, `lead lost`, `loss` [nats] and `accuracy`. `margin lost` is the largest
        fall of a mean margin: the right logit minus the logit of the right answer plus d. `lead lost` is the fall of
        the mean lead: the right logit minus the largest other logit. The attribute `loss` holds the loss with all
        circles.
        """
        pairs = self._sample(self.held_out, SAMPLE // 2)
        right = self.basis.answers[pairs, 0]

        def measured(blocks: Sequence[Any]) -> tuple[Float[Tensor, " distance"], float, float, float]:
            logits = self._of_sample(pairs, lambda x, part: x - part, blocks)
            loss, share = float(cross_entropy(logits, right)), (logits.argmax(dim=-1) == right).double().mean()
            return margins_of(logits, right), lead(logits, right), loss, float(share)

        before, lead_before, loss, _ = measured([])
        freqs, rows = [k for k in self.basis.all_blocks if 2 * k != self._p], []
        for found, lead_without, loss_without, share in (measured([k]) for k in freqs):
            rows.append((float((before - found).max()), lead_before - lead_without, loss_without, share))
        columns = ["margin lost", "lead lost", "loss", "accuracy"]
        table = pd.DataFrame(rows, index=pd.Index(freqs, name="freq"), columns=columns)
        table.attrs["loss"] = loss
        return table

    @property
    def other_circles(self) -> tuple[int, ...]:
        """Return strong circles of the embedding that the logits do not use, without those of twice their frequency."""
        return tuple(self._other_circles(self.circles))

    def accuracy_of(self, blocks: Sequence[Any]) -> float:
        """Return the accuracy if the embedding keeps only the given frequencies or representations and the mean."""
        return self._share_right(self._kept(blocks).given)

    @cached_property
    def accuracy_resampled(self) -> float:
        """Accuracy when each number takes the circles of another number, by one random permutation."""
        order = torch.randperm(self._p, generator=torch.Generator().manual_seed(0))
        return self._share_right(self._changed(lambda x, part: x - part + part[order], self.blocks).given)

    def half_turn_on(self, rows: Int[Tensor, " row"]) -> float:
        """Return the share of the given inputs whose answer the half turn changes by one."""
        return float(self.answers_of_half_turn[self.basis.rows(rows)].double().mean())

    @property
    def answers_of_half_turn(self) -> Bool[Tensor, " pair"]:
        """True for each pair whose answer the half turn changes by one."""
        found = self.half_turn.answered
        return (found if self.pairs is None else self.half_turn.network.answered(found.sign)).moved(1).flatten()

    def turned_by(self, freqs: Sequence[int]) -> float:
        """Return the share of pairs whose answer changes by one when the given circles rotate by half a step."""
        if set(freqs) == set(self.half_turn.freqs):
            return self.half_turn.moved
        return self.turned(freqs=tuple(freqs)).moved if freqs else float("nan")

    @property
    def crossed(self) -> tuple[int, int]:
        """Number of pairs of circles that exclude different wrong answers, and number of all pairs of circles."""
        cosines = Cosines.of(self._intact, self._few, self._sign)
        return crossed_pairs(cosines, self._intact.margins, self.foretold.margins)

    @cached_property
    def at_neurons(self) -> AtNeurons:
        """Interventions on the neurons of the last layer, along the directions that the read-out uses."""
        if not self._in_order:
            raise NoSuchPart(f"the neurons of {self.m.name} are not in the order of the circles")
        W_L = self.m.W_L.cpu().float()
        return AtNeurons(
            self.m.post.cpu().float().flatten(0, 1), W_L, self._logits.flatten(0, 1).float(), self.basis.answers[:, 0],
            tuple(self.circles),
        )  # fmt: skip

    @property
    def without_circles_is_wrong(self) -> tuple[int, int]:
        """Numbers of pairs with a wrong answer after removing the circles, and after removing as many other circles."""
        n = self._p**2 if self.pairs is None else len(self.pairs)
        without = self._changed(lambda x, part: x - part, self.other_circles)
        return round(n * (1 - self.accuracy_without)), round(n * (1 - self._share_right(without.given)))

    @cached_property
    def synergy(self) -> Synergy:
        """Loss without two circles, compared with the sum of both single losses, on a sample of held-out pairs."""
        pairs = self._sample(self.held_out, SAMPLE // 2)
        right = self.basis.answers[pairs, 0]

        def measured(freqs: Sequence[int]) -> tuple[Float[Tensor, " distance"], float]:
            logits = self._of_sample(pairs, lambda x, part: x - part, freqs)
            return margins_of(logits, right), float((logits.argmax(dim=-1) == right).double().mean())

        return Synergy.of(self._few, self.other_circles, measured)

    @cached_property
    def spill(self) -> float:
        """Largest relative change of a circle's amplitude in the logits when another circle is removed or doubled."""
        pairs = self._sample(torch.arange(self._p**2), SAMPLE // 2)
        right = self.basis.answers[pairs, 0]

        def sizes(freq: int, dose: float) -> Float[Tensor, " freq"]:
            margin = margins_of(self._of_sample(pairs, lambda x, part: x + (dose - 1) * part, [freq]), right)
            return margin @ cosine_waves(self._p, list(self._few)).to(margin)

        before = sizes(self._few[0], 1.0)
        moved = []
        for place, freq in enumerate(self._few):
            for dose in (0.0, 2.0):
                change = (sizes(freq, dose) / before - 1).abs()
                change[place] = 0
                moved.append(float(change.max()))
        return max(moved)

    @cached_property
    def onset(self) -> pd.DataFrame:
        """Table with one row per snapshot: accuracy and half-turn share, on held-out and training pairs."""
        rows, parts = [], {"held-out": self._sample(self.held_out), "training": self._sample(self._trained_on)}
        angles = turn_angles(self._few, self._p, HALF), turn_angles(self._few, self._p, self._sign * HALF)
        for epoch in self.m.snapshots:
            at = Embedded(self.m.at(epoch), self.m.task, self.basis.order)
            a, b = at.tables
            turned = [turn(self._p, by) @ x for by, x in zip(angles, (a, b), strict=True)]
            row: dict[str, float] = {"epoch": epoch}
            for name, pairs in parts.items():
                for what, vectors, move in (("accuracy", (a, b), 0), ("half turn", turned, 1)):
                    logits = at.at(vectors[0], vectors[1], pairs)
                    hit = logits.argmax(dim=-1) == (self.basis.answers[pairs, 0] + move) % self._p
                    row[f"{what}, {name}"] = float(hit.double().mean())
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def _trained_on(self) -> Int[Tensor, " pair"]:
        return self.basis.rows(self.m.split.train)
