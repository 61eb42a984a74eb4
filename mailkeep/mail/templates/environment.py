"""Jinja2's sandbox as templates of messages use it, and which variables a template uses.

Call it only in the child process (`render_worker`): a template may take any amount of time and memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn, cast

from jinja2 import Undefined, UndefinedError, meta, nodes
from jinja2.exceptions import SecurityError, TemplateRuntimeError, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

_OBJECT_METHODS = ("get", "items", "keys", "values")
_PRINTABLE = (str, int, float, list, dict, tuple, Undefined)
_FUNCTIONS = ("range", "namespace")
_MARKS = ("unsafe_callable", "alters_data")  # that the sandbox looks for before each call
_ANY = "[]"  # an element of an array, or a key that is computed
_NO_OTHER_TEMPLATES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


class MissingNames:
    """The missing variables of the template that is being rendered, in the order of their use.

    `optional` are the names that may be missing: each of them, and what is below it, is empty.
    """

    def __init__(self, variables: Mapping[str, Any], optional: Sequence[str]) -> None:
        self._variables, self._optional = variables, optional
        self.names: dict[str, None] = {}

    def add(self, name: str) -> None:
        """Note that the template uses a variable that is missing, unless that is allowed."""
        if not any(name == each or name.startswith(f"{each}.") for each in self._optional):
            self.names[name] = None

    def path_of(self, value: Any) -> str:
        """Where an object or array is in the variables, such as `order.items[0]`; empty if it is no part of them."""
        return next((path for path, each in _walk(self._variables) if each is value), "")


_missing = MissingNames({}, ())  # of the current rendering; a child renders one template at a time


def start_rendering(variables: Mapping[str, Any], optional: Sequence[str]) -> MissingNames:
    """Begin to note missing variables, and forget those of the rendering before."""
    global _missing
    _missing = MissingNames(variables, optional)
    return _missing


def _walk(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    waiting: list[tuple[str, Any]] = list(variables.items())
    for path, value in waiting:
        yield path, value
        if isinstance(value, dict):
            waiting += [(f"{path}.{key}", each) for key, each in cast(dict[str, Any], value).items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", each) for index, each in enumerate(cast(list[Any], value))]


class MissingVariable(Undefined):
    """A variable that is not there. Its use is noted and counts as empty, so that one rendering finds all that are
    missing; what cannot be done with an empty value ends the rendering.
    """

    __slots__ = ("_path",)

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: Any = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        super().__init__(hint, obj, name, exc)
        if isinstance(obj, MissingVariable):
            prefix: str = obj._path  # noqa: SLF001 - of another variable
        else:
            prefix = _missing.path_of(obj) if isinstance(obj, dict | list | str) else ""
        suffix = f"[{name}]" if isinstance(name, int) else f".{name}" if prefix else str(name)
        self._path: str = prefix + suffix

    def _note(self) -> None:
        self._refuse_unsafe()
        _missing.add(self._path)

    def _refuse_unsafe(self) -> None:
        """SecurityError if this stands for an attribute that the sandbox denies."""
        if self._undefined_exception is SecurityError:
            raise SecurityError(self._undefined_message)

    def _fail_with_undefined_error(self, *args: Any, **kwargs: Any) -> NoReturn:
        self._note()
        raise UndefinedError(f"{self._path} is missing")

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__" or name in _MARKS:
            raise AttributeError(name)
        self._refuse_unsafe()
        return MissingVariable(obj=self, name=name)

    def __getitem__(self, name: Any) -> Any:
        self._refuse_unsafe()
        return MissingVariable(obj=self, name=name)

    def __str__(self) -> str:
        self._note()
        return ""

    def __repr__(self) -> str:
        return str(self)

    def __iter__(self) -> Iterator[Any]:
        self._note()
        return iter(())

    def __len__(self) -> int:
        self._note()
        return 0

    def __bool__(self) -> bool:
        self._note()
        return False

    def __eq__(self, other: object) -> bool:
        self._note()
        return isinstance(other, MissingVariable)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        self._note()
        return id(type(self))

    __add__ = __radd__ = __sub__ = __rsub__ = _fail_with_undefined_error
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _fail_with_undefined_error
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _fail_with_undefined_error
    __pos__ = __neg__ = __call__ = __lt__ = __le__ = __gt__ = __ge__ = _fail_with_undefined_error
    __int__ = __float__ = __complex__ = __pow__ = __rpow__ = _fail_with_undefined_error


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """An attribute of an object is its key, so that a key `items` is no method; of other values, as in the sandbox."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """The value of `obj.attribute` in a template."""
        if isinstance(obj, dict):
            if attribute in obj:
                return cast(dict[str, Any], obj)[attribute]
            if attribute not in _OBJECT_METHODS:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)


def create_environment(*, autoescape: bool) -> TemplateEnvironment:
    """An environment without a loader and without functions, except `range` and `namespace`. A line that consists of a
    block tag leaves no line behind.
    """
    environment = TemplateEnvironment(
        autoescape=autoescape,
        undefined=MissingVariable,
        finalize=_finalize,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        cache_size=0,
    )
    functions: dict[str, Any] = vars(environment)["globals"]
    for name in functions.keys() - set(_FUNCTIONS):
        del functions[name]
    return environment


def _finalize(value: Any) -> Any:
    """What is printed for a value: nothing for null."""
    if value is None:
        return ""
    if not isinstance(value, _PRINTABLE):
        raise UndefinedError(f"a value of the kind {type(value).__name__} can't be printed")
    return cast(Any, value)


def parse(environment: TemplateEnvironment, source: str) -> nodes.Template:
    """The syntax tree of a template. TemplateSyntaxError, also if it names another template."""
    tree = environment.parse(source)
    for node in tree.find_all(_NO_OTHER_TEMPLATES):
        raise TemplateSyntaxError("include, import and extends are not available", node.lineno)
    return tree


def find_variables(tree: nodes.Template) -> list[str]:
    """The variables that a template uses, as dotted names, sorted: `order.id`, not `order` as well."""
    names = meta.find_undeclared_variables(tree) - set(_FUNCTIONS)
    methods = {id(call.node) for call in tree.find_all(nodes.Call)}
    found: set[str] = set()
    inner: set[int] = set()
    for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Name)):
        if id(node) not in inner:
            path = _path(node, methods, inner).removesuffix(_ANY)
            if path.partition(".")[0] in names:
                found.add(path)
    return sorted(found)


def _path(node: nodes.Node, methods: set[int], inner: set[int]) -> str:
    """The dotted name of an expression; with `[]` at its end if it is an element: `order.lines[]` for
    `order.lines[0].price`; empty if it is no variable. Adds the nodes below to `inner`, which are visited later.
    """
    match node:
        case nodes.Name():
            return node.name
        case nodes.Getattr():
            below, key = node.node, node.attr
        case nodes.Getitem():
            below, key = node.node, node.arg.value if isinstance(node.arg, nodes.Const) else None
        case _:
            return ""
    inner.add(id(below))
    path = _path(below, methods, inner)
    if not path or path.endswith(_ANY) or id(node) in methods:
        return path
    return f"{path}.{key}" if isinstance(key, str) else path + _ANY
