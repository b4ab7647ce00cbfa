"""Write a task as JSON and read it back: modinterp's classes by name, users' classes by import path."""

from __future__ import annotations

import re
import sys
from dataclasses import asdict, fields
from importlib import import_module
from typing import Any, TypeVar

from modinterp.tasks.task import REGISTERED, Task

_IMPORT_PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")

T = TypeVar("T")


class TaskNotImportable(ValueError):
    """The class of a user's task cannot be imported in this process."""


def kind_of(task_class: type[Task]) -> str:
    """Return the name of a task class in a description: `ModularArithmetic`, or `package.module:ClassName` for a user's
    class.

    >>> from modinterp.tasks import ModularArithmetic
    >>> kind_of(ModularArithmetic)
    'ModularArithmetic'
    """
    if REGISTERED.get(task_class.__name__) is task_class:
        return task_class.__name__
    return f"{task_class.__module__}:{task_class.__qualname__}"


def class_of_kind(kind: str) -> type[Task]:
    """Return the class of tasks with a name from `kind_of`; a class of another package is imported.

    Raises:
        TaskNotImportable: the module does not exist, or lacks the class.
        ValueError: a name without a module is not a task of this package, or the imported class is not a frozen
            dataclass derived from `Task`.
    """
    if ":" not in kind:
        if kind not in REGISTERED:
            raise ValueError(
                f"unknown kind {kind!r}; known are {', '.join(REGISTERED)}, and 'package.module:ClassName'"
            )
        return REGISTERED[kind]
    if not _IMPORT_PATH.fullmatch(kind):
        raise ValueError(f"{kind!r} is not the import path of a task; such paths look like 'package.module:ClassName'")
    module, _, name = kind.partition(":")
    if module.partition(".")[0] in sys.stdlib_module_names:  # some of them do things when they are imported
        raise ValueError(f"{kind} is not a task: the name belongs to Python's own library")
    try:
        imported: Any = import_module(module)
        for part in name.split("."):
            imported = getattr(imported, part)
    except (ImportError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise TaskNotImportable(f"the task {kind} cannot be imported: {reason}") from error
    if not (isinstance(imported, type) and issubclass(imported, Task) and _is_frozen_dataclass(imported)):
        raise ValueError(
            f"{kind} is not a task: it should be a subclass of modinterp.tasks.Task and a frozen dataclass"
        )
    return imported


def _is_frozen_dataclass(cls: type) -> bool:
    """Return True if a class itself, and not only a base class, was decorated with `@dataclass(frozen=True)`."""
    parameters = vars(cls).get("__dataclass_params__")
    return parameters is not None and parameters.frozen


def description(task: Task) -> dict[str, Any]:
    """Describe a task by its kind and its fields, as plain numbers, strings, lists and dicts.

    >>> from modinterp.tasks import addition
    >>> description(addition(5))
    {'kind': 'ModularArithmetic', 'p': 5, 'op': 'add', 'equals': True, 'vocabularies': 1}
    """
    return {"kind": kind_of(type(task))} | asdict(task)


def task_from_description(data: dict[str, Any]) -> Task:
    """Rebuild a task from the result of `description`.

    Raises:
        TypeError: a field is missing.
        ValueError: the kind is missing; the class is unknown, cannot be imported (`TaskNotImportable`), or lacks a
            field.
    """
    if not isinstance(data, dict) or not isinstance(data.get("kind"), str):
        raise ValueError("the description of a task must be an object with the field `kind`")
    task_class = class_of_kind(data["kind"])
    return from_fields(task_class, {name: value for name, value in data.items() if name != "kind"})


def describes(data: dict[str, Any], task: Task) -> bool:
    """Return True if a description describes a task, regardless of the module of its class."""
    plain = {name: list(v) if isinstance(v, tuple) else v for name, v in description(task).items()}
    plain["kind"], kind = plain["kind"].rpartition(":")[2], str(data["kind"]).rpartition(":")[2]
    return plain == data | {"kind": kind}


def from_fields(cls: type[T], values: dict[str, Any]) -> T:
    """Build an instance of a dataclass from its fields; lists, which JSON uses for tuples, become tuples.

    Raises:
        TypeError: a field is missing.
        ValueError: the class lacks one of the fields.
    """
    if not isinstance(values, dict):
        raise ValueError(f"the fields of {cls.__name__} should be an object, got {type(values).__name__}")
    unknown = set(values) - {known.name for known in fields(cls)}  # type: ignore[arg-type]
    if unknown:
        raise ValueError(f"{cls.__name__} has no field {', '.join(sorted(unknown))}")
    return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})
