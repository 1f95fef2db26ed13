"""The ways in which a module can be broken: one comparison, sum, constant, condition or result at a time."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Add, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
"""The operator that stands for each one in its mutant."""


class Mutant(NamedTuple):
    """`number`: its place among the mutants of its module; `what`: the piece of source before and after."""

    number: int
    line: int
    what: str


def mutants(source: str) -> list[Mutant]:
    """All mutants of a source.

    >>> for mutant in mutants("def f(a: int | None) -> bool:\\n    return a < 3 and not a.b"):
    ...     print(mutant.line, mutant.what)
    2 return a < 3 and (not a.b)  ->  return None
    2 a < 3 and (not a.b)  ->  a < 3 or not a.b
    2 a < 3  ->  a <= 3
    2 3  ->  4
    2 not a.b  ->  a.b
    """
    tree = ast.parse(source)
    found = []
    for number, (node, changed) in enumerate(_changes(tree)):
        before = ast.unparse(node)
        with _Changed(node, changed):
            found.append(Mutant(number, node.lineno, f"{before}  ->  {ast.unparse(node)}"))
    return found


def mutated(source: str, number: int) -> ast.Module:
    """The syntax tree of one of the mutants of a source, by its number.

    >>> ast.unparse(mutated("x = 1 + y", 0))
    'x = 1 - y'
    """
    tree = ast.parse(source)
    node, changed = list(_changes(tree))[number]
    _Changed(node, changed).__enter__()
    return tree


class _Changed:
    """A node as another one: its class and its fields, for as long as the context lasts."""

    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self.node, self.changed, self.before = node, changed, (node.__class__, dict(vars(node)))

    def __enter__(self) -> None:
        place = {name: vars(self.node)[name] for name in ("lineno", "col_offset") if name in vars(self.node)}
        self.node.__class__ = self.changed.__class__  # type: ignore[assignment]
        vars(self.node).update(vars(self.changed) | place)

    def __exit__(self, *_: object) -> None:
        self.node.__class__, fields = self.before  # type: ignore[assignment]
        vars(self.node).clear()
        vars(self.node).update(fields)


def _changes(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, ast.AST]]:
    """(a node, what it becomes) for each mutant, in a fixed order; annotations are left alone."""
    left_alone = {id(part) for node in ast.walk(tree) for part in _annotations(node)}
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop(0)
        if id(node) in left_alone:
            continue
        waiting = [*ast.iter_child_nodes(node), *waiting]
        if isinstance(node, ast.expr | ast.stmt) and (changed := _change(node)):
            yield node, changed


def _annotations(node: ast.AST) -> list[ast.AST]:
    parts = [getattr(node, name, None) for name in ("annotation", "returns")]
    return [part for part in parts if isinstance(part, ast.AST)]


def _change(node: ast.expr | ast.stmt) -> ast.AST | None:
    match node:
        case ast.Compare(left, [op, *ops], comparators):
            return ast.Compare(left, [SWAPS[type(op)](), *ops], comparators)
        case ast.BoolOp(op, values):
            return ast.BoolOp(SWAPS[type(op)](), values)
        case ast.BinOp(left, op, right) if type(op) in SWAPS and not _is_text(left):
            return ast.BinOp(left, SWAPS[type(op)](), right)
        case ast.AugAssign(target, op, value) if type(op) in SWAPS:
            return ast.AugAssign(target, SWAPS[type(op)](), value)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            return operand
        case ast.Constant(bool(value)):
            return ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            return ast.Constant(value + 1)
        case ast.Return(ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            return ast.Return(ast.Constant(None))
    return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
