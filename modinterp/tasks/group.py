"""Define the task of composing two elements of a finite group."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

from modinterp.arguments import Limits, check_fields
from modinterp.files import no_file
from modinterp.tasks.group_tables import check_group, factors, named_group, permutation
from modinterp.tasks.task import MOST_RESIDUES, Task

MOST_OF_ELEMENTS = 2**20  # bytes of a file that names the elements of a group

TABLE = "a table"


@dataclass(frozen=True)
class Group(Task):
    """The product of every two elements of a finite group, given as the tokens `a b` or `a b =`.

    Attributes:
        group: name of the group, such as `S5` or `C2 x D4`; with `products`, any name.
        products: flat multiplication table of the group: the index of a b, for a = 0 and b = 0, 1, ..., then for a = 1.
        elements: names of the group's elements in the order of their tokens; by default the order of `named_group`, or
            numbers for a table. Permutations may be written in cycles or as rows of images, from 0 or from 1.
        equals: True if a third token, "=", stands at the end; this token has the last number.
        vocabularies: 1 if both elements share their tokens; 2 if the token of b is n + b.
    Source: Chughtai et al. 2023, section 3.

    >>> task = Group("S3")
    >>> task.n, task.written(3), task.written(int(task.table[1, 2]))
    (6, '(1 2 3)', '(1 2 3)')
    """

    group: str
    products: tuple[int, ...] = ()
    elements: tuple[str, ...] = ()
    equals: bool = False
    vocabularies: int = 1

    def __post_init__(self) -> None:
        check_fields(self, vocabularies=Limits(1, 2))
        self.table  # noqa: B018 - a table that is no group is refused here

    @classmethod
    def of_table(
        cls,
        table: Sequence[Sequence[int]],
        group: str = TABLE,
        elements: Sequence[str] = (),
        equals: bool = False,
        vocabularies: int = 1,
    ) -> Group:
        """Build the task from a multiplication table, in which `table[a][b]` is the index of the product a b.

        >>> Group.of_table([[0, 1], [1, 0]], "parity").name
        'a b in parity, of order 2'

        Raises:
            ValueError: the table is not a group's; the message names the violated axiom and the elements.
        """
        if not len(table):
            raise ValueError(
                "a table without rows is not the table of a group, since a group has at least its neutral element"
            )
        for a, row in enumerate(table):
            if fractions := [c for c in row if int(c) != c]:
                raise ValueError(
                    f"row {a} of the table has the product {fractions[0]}, which is not the number of an element"
                )
            if len(row) != len(table):
                raise ValueError(f"row {a} of the table of {len(table)} elements has {len(row)} products")
        products = tuple(int(c) for row in table for c in row)
        return cls(group, products, tuple(elements), equals, vocabularies)

    @classmethod
    def read(cls, file: str | Path, equals: bool = False, vocabularies: int = 1) -> Group:
        """Build the task from a multiplication table in a CSV file.

        The CSV file has n rows of n numbers from 0 to n - 1. Alternatively, the CSV file has names, with a header row
        and a header column of names.

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: the file holds no table, or the table is not a group's.
        """
        path = Path(file)
        if not path.is_file():
            raise no_file(path)
        try:
            rows = [
                [cell.strip() for cell in row]
                for row in csv.reader(path.read_text(encoding="utf-8-sig").splitlines())
                if row
            ]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"{path} is not a table in CSV: {error}") from error
        if not rows:
            raise ValueError(f"{path} is not a table in CSV: the file has no row")
        names: list[str] = []
        if not rows[0][0].isdecimal() and [row[0] for row in rows[1:]] == rows[0][1:]:
            names, rows = rows[0][1:], [row[1:] for row in rows[1:]]
        number = {name: k for k, name in enumerate(names)} or {str(k): k for k in range(len(rows))}
        name = dict(enumerate(number))
        for a, row in enumerate(rows):
            if unknown := [b for b, cell in enumerate(row) if cell not in number]:
                product = f"{name.get(a, a)} times {name.get(unknown[0], f'column {unknown[0]}')}"
                raise ValueError(
                    f"{path} is not the table of a group: {product} is {row[unknown[0]]!r}, which is not an element"
                )
        return cls.of_table([[number[c] for c in row] for row in rows], path.stem, names, equals, vocabularies)

    @classmethod
    def of(cls, group: str | Path, elements: Sequence[str] = ()) -> Group:
        """Build the task from the name of a group, or from a file with a multiplication table whose name ends in
        `.csv`.

        >>> Group.of("D4").n
        8

        Raises:
            FileNotFoundError: the file does not exist.
            ValueError: no group has this name, or the table is not a group's.
        """
        return cls.read(group) if Path(group).suffix == ".csv" else cls(str(group), elements=tuple(elements))

    @property
    def is_named(self) -> bool:
        """True if the group is given by its name, and not by a table."""
        return not self.products

    @property
    def factors(self) -> tuple[tuple[str, int], ...]:
        """Letter and number of each factor of a named group; empty for a group given by a table."""
        return factors(self.group) if self.is_named else ()

    @property
    def n(self) -> int:
        """Number of elements, which are numbered from 0."""
        return len(self.table)

    @property
    def table(self) -> Int[Tensor, "a b"]:
        """Index of each product a b, `[a, b]`."""
        return _table(self.group, self.products, self.elements)

    @property
    def identity(self) -> int:
        """Index of the neutral element."""
        return int((self.table.diagonal() == torch.arange(self.n)).nonzero()[0])

    @property
    def inverses(self) -> Int[Tensor, " a"]:
        """Index of the inverse of each element."""
        return (self.table == self.identity).int().argmax(dim=1)

    @property
    def standard_places(self) -> Int[Tensor, " a"]:
        """Index of each element in the order of `named_group`; for a group given by a table, the element's own
        index.
        """
        places = _places(self.group, self.elements) if self.is_named else tuple(range(self.n))
        return torch.tensor(places)

    def written(self, element: int) -> str:
        """Return the name of an element, by its index."""
        if self.is_named:
            return named_group(self.group)[0][int(self.standard_places[element])]
        return self.elements[element] if self.elements else str(element)

    @property
    def name(self) -> str:
        return f"a b in {self.group}, of order {self.n}"

    @property
    def d_vocab(self) -> int:
        return self.vocabularies * self.n + self.equals

    @property
    def d_vocab_out(self) -> int:
        return self.n

    @property
    def n_ctx(self) -> int:
        return 2 + self.equals

    @property
    def grid(self) -> tuple[int, int]:
        return (self.n, self.n)

    def inputs(self) -> Int[Tensor, "input pos"]:
        elements = torch.arange(self.n)
        pairs = torch.cartesian_prod(elements, elements + (self.vocabularies - 1) * self.n)
        return torch.cat([pairs, torch.full((len(pairs), int(self.equals)), self.d_vocab - 1)], dim=1)

    def labels(self) -> Int[Tensor, "input output"]:
        return self.table.reshape(-1, 1)


def elements_in(file: str | Path) -> tuple[str, ...]:
    """Read the elements of a group from a file with one name per line.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is not text, or larger than any list of elements.
    """
    if not Path(file).is_file():
        raise no_file(Path(file))
    try:
        if Path(file).stat().st_size > MOST_OF_ELEMENTS:
            raise ValueError(f"{file} has more than {MOST_OF_ELEMENTS:,} bytes, too many for the elements of a group")
        return tuple(filter(None, map(str.strip, Path(file).read_text(encoding="utf-8-sig").split("\n"))))
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not a text file with one element on each line: {error}") from error


@lru_cache(maxsize=16)
def _places(group: str, elements: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indices, in the order of `named_group`, of elements that are listed in another order."""
    names = named_group(group)[0]
    if not elements:
        return tuple(range(len(names)))
    parts = factors(group)
    number: dict[object, int] = {name: k for k, name in enumerate(names)}
    points = parts[0][1] if len(parts) == 1 and parts[0][0] in "SA" else 0
    if points:
        number |= {permutation(name, points): k for k, name in enumerate(names)}
    places = [number.get(x, number.get(permutation(x, points)) if points else None) for x in elements]
    for x, place in zip(elements, places, strict=True):
        if place is None:
            raise ValueError(f"{x!r} is not an element of {group}; its elements look like {', '.join(names[-3:])}")
    if len(set(places)) != len(names):
        raise ValueError(
            f"{group} has {len(names)} elements, but the given order has {len(set(places))} different elements"
        )
    return tuple(place for place in places if place is not None)


@lru_cache(maxsize=16)
def _table(group: str, products: tuple[int, ...], elements: tuple[str, ...]) -> Int[Tensor, "a b"]:
    """Return the multiplication table of a group in the order of its tokens; a user's table is checked."""
    if not products:
        table, places = named_group(group)[1], torch.tensor(_places(group, elements))
        return places.argsort()[table[places][:, places]]
    n = round(len(products) ** 0.5)
    if n * n != len(products) or not 2 <= n <= MOST_RESIDUES:
        raise ValueError(f"a table of n elements, from 2 to {MOST_RESIDUES:,}, has n^2 products, got {len(products)}")
    if elements and len(set(elements)) != n:
        raise ValueError(f"the table of {n} elements needs {n} different names, got {len(set(elements))}")
    table = torch.tensor(products).view(n, n)
    check_group(table, elements or tuple(map(str, range(n))))
    return table
