"""Read a pickle as plain data: interpret its opcodes, without importing or calling anything that the pickle names.

The result consists of plain dicts, lists, tuples, strings and numbers. A `TensorEntry` replaces each tensor, and an
`Opaque` replaces every other object. Time and memory grow linearly with the bytes that are read. The reader hashes only
strings and small numbers, and compares, copies or traverses no objects.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MOST_BYTES = 2**24  # of one pickle; that of a network takes kilobytes
MOST_OPCODES = 500_000  # a second or two; 500 snapshots of a network take half of it
_MOST_AXES = 16
_LARGEST_KEY = 2**31  # beyond it there are as many numbers of one hash as one likes


class NotPlain(ValueError):
    """The pickle is damaged or too large, or contains operations that no file of weights needs."""


@dataclass(frozen=True)
class Opaque:
    """Placeholder for an object that a pickle contains and that is not built.

    Attributes:
        name: name of the object's class, or of the function that would build it, such as
            `torch.nn.modules.linear.Linear`.
    """

    name: str


@dataclass(frozen=True)
class Global:
    """Placeholder for a class or function that a pickle names; the class or function is not imported."""

    name: str


@dataclass(frozen=True)
class StorageEntry:
    """Description of a storage, the flat array of numbers behind a tensor, in a file of `torch.save`.

    Attributes:
        kind: class of the storage, such as `torch.FloatStorage`.
        key: name of the storage in the file.
        size: number of elements in the storage.
    """

    kind: str
    key: str
    size: int


@dataclass(frozen=True)
class TensorEntry:
    """Description of a tensor in a file: its storage, and its offset and strides in the storage, counted in
    elements.
    """

    storage: StorageEntry
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]


@dataclass(frozen=True)
class Plain:
    """The content of a pickle as plain data, and the storages of all its tensors by key."""

    content: Any
    storages: dict[str, StorageEntry]


def plain(stream: io.BytesIO) -> Plain:
    """Read the next pickle in a stream as plain data, and leave the stream at the end of that pickle.

    Raises:
        NotPlain: the pickle is cut off, damaged, or longer than `MOST_OPCODES`.
    """
    machine = _Machine()
    try:
        for count, (opcode, argument, _) in enumerate(pickletools.genops(stream)):
            if count >= MOST_OPCODES:
                raise NotPlain(f"its pickle has more than {MOST_OPCODES:,} instructions")
            if opcode.name not in _STEPS:
                raise NotPlain(f"its pickle has the instruction {opcode.name}, which modinterp does not read")
            _STEPS[opcode.name](machine, argument)
        return Plain(machine.pop(), machine.storages)
    except NotPlain:
        raise
    except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise NotPlain(f"its pickle is damaged: {error}") from error


class _Machine:
    """Interpreter of pickle opcodes that never calls a function."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.below: list[list[Any]] = []  # the stacks under each mark
        self.memo: dict[int, Any] = {}
        self.storages: dict[str, StorageEntry] = {}

    def pop(self) -> Any:
        return self.stack.pop()

    def pop_mark(self) -> list[Any]:
        items, self.stack = self.stack, self.below.pop()
        return items

    def mark(self, _: Any) -> None:
        self.below.append(self.stack)
        self.stack = []

    def put(self, place: int | None) -> None:
        self.memo[len(self.memo) if place is None else place] = self.stack[-1]

    def get(self, place: int) -> None:
        self.stack.append(self.memo[place])

    def of_marked(self, make: Callable[[list[Any]], Any]) -> None:
        items = self.pop_mark()
        self.stack.append(make(items))

    def tuple_of(self, count: int) -> None:
        if len(self.stack) < count:
            raise NotPlain("its pickle takes more from the stack than there is")
        items = tuple(self.stack[-count:])
        del self.stack[-count:]
        self.stack.append(items)

    def extend(self, items: list[Any]) -> None:
        if isinstance(self.stack[-1], list):
            self.stack[-1].extend(items)

    def set_items(self, items: list[Any]) -> None:
        if isinstance(target := self.stack[-1], dict):
            pairs = zip(items[::2], items[1::2], strict=True)
            target.update((key, value) for key, value in pairs if _is_key(key))

    def call(self, arguments: int) -> None:
        """Pop a callable and its arguments from the stack, and push a placeholder for the result instead of calling."""
        given = [self.pop() for _ in range(arguments)][::-1]
        called = self.pop()
        self.stack.append(_made(called.name if isinstance(called, Global) else type(called).__name__, given[0]))

    def of_class(self, name: str | None) -> None:
        items = self.pop_mark()
        called = Global(name) if name is not None else items[0]
        self.stack.append(Opaque(called.name if isinstance(called, Global) else type(called).__name__))

    def stack_global(self) -> None:
        name, module = self.pop(), self.pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise NotPlain("its pickle names a class by something that is not a name")
        self.stack.append(Global(f"{module}.{name}"))

    def build(self) -> None:
        """Drop the state that a pickle gives to an object; an ordered dict keeps its items."""
        self.pop()
        if isinstance(self.stack[-1], Global):
            self.stack[-1] = Opaque(self.stack[-1].name)

    def storage(self) -> None:
        match self.pop():
            case ("storage", Global(kind), str(key), str(), int(size), *view) if view in ([], [None]) and size >= 0:
                entry = StorageEntry(kind, key, size)
                if self.storages.setdefault(key, entry) != entry:
                    raise NotPlain("its pickle describes one storage in two ways")
                self.stack.append(entry)
            case _:
                raise NotPlain("its pickle refers to something that is not a storage of numbers")


def _is_key(key: Any) -> bool:
    """Return True if a dict entry is kept, that is, if its key is a string or a small integer."""
    return isinstance(key, str) or (isinstance(key, int) and abs(key) < _LARGEST_KEY)


def _made(name: str, arguments: Any) -> Any:
    """Return the placeholder for the result of a named function: an empty dict, a `TensorEntry`, or an `Opaque`."""
    if name == "collections.OrderedDict" and arguments == ():
        return {}
    match name, arguments:
        case "torch._utils._rebuild_tensor_v2", (StorageEntry() as of, int(offset), tuple(shape), tuple(stride), *_):
            sizes = (offset, *shape, *stride)
            if not all(type(n) is int and 0 <= n < 2**63 for n in sizes) or len(shape) != len(stride):
                raise NotPlain("the file describes a tensor of an impossible shape")
            if len(shape) > _MOST_AXES:
                raise NotPlain(f"the file describes a tensor of {len(shape)} axes")
            return TensorEntry(of, offset, shape, stride)
        case "torch._utils._rebuild_parameter" | "torch._utils._rebuild_parameter_with_state", (TensorEntry() as x, *_):
            return x
        case _:
            return Opaque(name)


def _global(argument: str) -> Global:
    return Global(argument.replace(" ", ".", 1))


_LITERALS = (
    "INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING",
    "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINUNICODE", "BINBYTES", "BINBYTES8",
    "SHORT_BINBYTES", "BYTEARRAY8",
)  # fmt: skip


def _dict_of(items: list[Any]) -> dict[Any, Any]:
    return {key: value for key, value in zip(items[::2], items[1::2], strict=True) if _is_key(key)}


_STEPS: dict[str, Callable[[_Machine, Any], Any]] = {
    "PROTO": lambda m, a: None,
    "FRAME": lambda m, a: None,
    "STOP": lambda m, a: None,
    **dict.fromkeys(_LITERALS, lambda m, a: m.stack.append(a)),
    "NONE": lambda m, a: m.stack.append(None),
    "NEWTRUE": lambda m, a: m.stack.append(True),
    "NEWFALSE": lambda m, a: m.stack.append(False),
    "EMPTY_LIST": lambda m, a: m.stack.append([]),
    "EMPTY_DICT": lambda m, a: m.stack.append({}),
    "EMPTY_TUPLE": lambda m, a: m.stack.append(()),
    "EMPTY_SET": lambda m, a: m.stack.append(Opaque("set")),
    "MARK": _Machine.mark,
    "POP": lambda m, a: m.pop() if m.stack else m.pop_mark(),
    "POP_MARK": lambda m, a: m.pop_mark(),
    "DUP": lambda m, a: m.stack.append(m.stack[-1]),
    "MEMOIZE": _Machine.put,
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine.put),
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine.get),
    "LIST": lambda m, a: m.of_marked(list),
    "TUPLE": lambda m, a: m.of_marked(tuple),
    "DICT": lambda m, a: m.of_marked(_dict_of),
    "FROZENSET": lambda m, a: m.of_marked(lambda _: Opaque("frozenset")),
    "TUPLE1": lambda m, a: m.tuple_of(1),
    "TUPLE2": lambda m, a: m.tuple_of(2),
    "TUPLE3": lambda m, a: m.tuple_of(3),
    "APPEND": lambda m, a: m.extend([m.stack.pop()]),
    "APPENDS": lambda m, a: m.extend(m.pop_mark()),
    "SETITEM": lambda m, a: m.set_items([m.pop(), m.pop()][::-1]),
    "SETITEMS": lambda m, a: m.set_items(m.pop_mark()),
    "ADDITEMS": lambda m, a: m.pop_mark(),
    "GLOBAL": lambda m, a: m.stack.append(_global(a)),
    "STACK_GLOBAL": lambda m, a: m.stack_global(),
    "REDUCE": lambda m, a: m.call(1),
    "NEWOBJ": lambda m, a: m.call(1),
    "NEWOBJ_EX": lambda m, a: m.call(2),
    "OBJ": lambda m, a: m.of_class(None),
    "INST": lambda m, a: m.of_class(_global(a).name),
    "BUILD": lambda m, a: m.build(),
    "BINPERSID": lambda m, a: m.storage(),
}
