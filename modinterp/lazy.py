"""Import names of modinterp's packages, and unused parts of libraries, only when they are first used.

With late imports, a command's --help does not wait for torch, and a network does not wait for libraries for language
models.
"""

from __future__ import annotations

import ast
import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from pkgutil import iter_modules
from threading import RLock
from types import ModuleType
from typing import Any

_LOCK = RLock()


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module, which imports each name from its defining module at first use.

    Args:
        package: name of the package, its `__name__`.
        homes: map from a name to the module that defines it; a name that ends its module's path stands for the module
            itself.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(homes[name])
        return home if homes[name].endswith(f".{name}") else getattr(home, name)

    return find


def lazy_modules(package: str, path: Sequence[str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a `__getattr__` for a package, which imports a module at first use, and a `__dir__`, which lists all
    modules.

    Args:
        package: name of the package, its `__name__`.
        path: search path of the package, its `__path__`.
    """

    def homes() -> dict[str, str]:
        return {found.name: f"{package}.{found.name}" for found in iter_modules(path) if found.name[0] != "_"}

    def find(name: str) -> Any:
        return lazy_names(package, homes())(name)

    return find, lambda: sorted(homes())


@contextmanager
def staying(own: bool = True) -> Iterator[None]:
    """Exclude all objects made inside the `with` statement from garbage collection, until the process ends.

    Libraries create hundreds of thousands of objects; searching them for garbage would take a seventh of the time of an
    explanation.

    Args:
        own: True if the process belongs to modinterp alone, such as that of a command; if False, nothing is changed.
    """
    if not own:
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def by_parts(package: str) -> Iterator[None]:
    """Import only the named modules of a package, without those that its `__init__` files import.

    Inside the `with` statement, `from package import name` imports only the module from which the package's
    `__init__.py` takes the name. Packages below the package are treated alike. After the `with` statement, the first
    use of a package executes its `__init__.py`, so other code finds the whole package. A package that was imported
    before stays unchanged. A name that `__init__.py` defines other than by `from module import name` executes the whole
    `__init__.py`.
    """
    if package in sys.modules:
        yield
        return
    finder = _ByParts(package)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for made in finder.made:
            made.__dict__.pop(_HOMES, None)


_HOMES = "__names_and_their_modules__"


class _ByParts(MetaPathFinder):
    """Finds the packages below one as `_Unexecuted`, and leaves their modules to Python."""

    def __init__(self, package: str):
        self.package, self.made = package, list[ModuleType]()

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != self.package:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or spec.origin is None or not spec.submodule_search_locations or spec.loader is None:
            return None
        spec.loader = _Later(spec.loader, self.made)
        return spec


class _Later(Loader):
    """Makes a package whose `__init__.py` is executed later, by another loader."""

    def __init__(self, loader: Loader, made: list[ModuleType]):
        self.loader, self.made = loader, made

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__[_HOMES] = dict(_imported_names(module))
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        module.__class__ = _Unexecuted
        self.made.append(module)


def _imported_names(package: ModuleType) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each name that an `__init__.py` has by `from module import name` to the module and the name there."""
    for node in ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = resolve_name("." * node.level + (node.module or ""), package.__name__)
            for each in node.names:
                yield each.asname or each.name, (module, each.name)


class _Unexecuted(ModuleType):
    """A package whose `__init__.py` is not executed before something is asked of it."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, ModuleType):  # found in sys.modules; the name of one may be that of a class, too
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        if name in (homes := self.__dict__.get(_HOMES, {})):
            module, original = homes[name]
            if module == self.__name__:
                return import_module(f"{module}.{original}")
            return getattr(import_module(module), original)
        if (part := sys.modules.get(f"{self.__name__}.{name}")) is not None and homes:
            return part
        with _LOCK:
            if type(self) is _Unexecuted:
                _execute(self)
        return getattr(self, name)


def _execute(package: ModuleType) -> None:
    """Execute the `__init__.py` of a package, which then is as if it had been imported in the ordinary way."""
    prefix, loader = f"{package.__name__}.", package.__loader__
    if loader is None:
        raise ImportError(f"{package.__name__} has no loader")
    package.__dict__.pop(_HOMES, None)
    package.__class__ = ModuleType
    parts = {name.removeprefix(prefix): part for name, part in sys.modules.items() if name.startswith(prefix)}
    vars(package).update({name: part for name, part in parts.items() if "." not in name})
    try:
        loader.exec_module(package)
    except BaseException:
        package.__class__ = _Unexecuted
        raise


def callable_package(package: str, function: str) -> None:
    """Make a package callable like the function of the same name.

    Python binds the name `modinterp.explain` to the package as soon as a module inside it is imported, but users expect
    the function `modinterp.explain`. A call of the package passes its arguments on to the function of the same name.

    Args:
        package: name of the package, its `__name__`.
        function: name of the package's function, which may be imported at first use.
    """
    module = sys.modules[package]

    class CallablePackage(ModuleType):
        def __call__(self, *args: Any, **options: Any) -> Any:
            return getattr(self, function)(*args, **options)

    module.__class__ = CallablePackage
