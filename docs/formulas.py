"""Formulas: a fenced block of `python formula` is a form in a browser, which computes as its reader types.

A line gives a number, or a result from the names above it, and its comment says what it is:

    tiles = 528  # output tiles
    rounds = ceil(tiles / 132)  # tiles of the busiest SM

The block is Python, so elsewhere it is shown, and tried by tests, as it stands. In the form, the expressions
are JavaScript.
"""

import ast
import math
import re
from collections.abc import Mapping
from html import escape
from typing import NamedTuple

FENCED = re.compile(r"^```python formula\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(\w+) = (.+?)  # (.+)")
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


class Formula(NamedTuple):
    """`given`: numbers by name. `results`: expressions by name. `labels`: what each of them is."""

    given: dict[str, float]
    results: dict[str, str]
    labels: dict[str, str]


def read(block: str) -> Formula:
    """The formula that a block states. Raises ValueError for a line that is neither number nor result."""
    made = Formula({}, {}, {})
    for line in block.splitlines():
        if not line or line.startswith("from math import"):
            continue
        found = LINE.fullmatch(line)
        if not found:
            raise ValueError(f"a line of a formula is not of the form 'name = value  # what it is': {line}")
        name, value, made.labels[name] = found.groups()  # type: ignore[misc]
        if re.fullmatch(r"[\d_.]+", value):
            made.given[name] = float(value) if "." in value else int(value)
        else:
            made.results[name] = value
    return made


def results(formula: Formula, given: Mapping[str, float]) -> dict[str, float]:
    """The results for other numbers, by name, as Python computes them."""
    names: dict[str, float] = dict(given)
    for name, expression in formula.results.items():
        names[name] = eval(expression, {**vars(math), "min": min, "max": max}, names)
    return {name: names[name] for name in formula.results}


def javascript(node: ast.expr) -> str:
    """An expression in JavaScript. Raises ValueError for what no formula needs."""
    match node:
        case ast.Constant():
            return repr(node.value)
        case ast.Name():
            return node.id
        case ast.BinOp(op=ast.FloorDiv()):
            return f"Math.floor({javascript(node.left)} / {javascript(node.right)})"
        case ast.BinOp() if type(node.op) in OPERATORS:
            return f"({javascript(node.left)} {OPERATORS[type(node.op)]} {javascript(node.right)})"
        case ast.Call(func=ast.Name(id="min" | "max" | "ceil" | "log2" as name)):
            return f"Math.{name}({', '.join(map(javascript, node.args))})"
    raise ValueError(f"a formula cannot have the expression {ast.unparse(node)}")


def form(block: str) -> str:
    """The form of a block: HTML without empty lines, so that it can stand in Markdown."""
    formula = read(block)
    rows = []
    for name, value in formula.given.items():
        step = "any" if isinstance(value, float) else 1
        rows.append(
            f'<label><code>{name}</code><input name="{name}" type="number" min="0" step="{step}" required'
            f' value="{value}"> {_text(formula.labels[name])}</label>'
        )
    computed = results(formula, formula.given)
    for name, expression in formula.results.items():
        code = escape(javascript(ast.parse(expression, mode="eval").body))
        shown = f"{float(f'{computed[name]:.4g}'):,.10g}"
        rows.append(
            f'<div><code>{name}</code><output name="{name}" data-expression="{code}">{shown}</output>'
            f" {_text(formula.labels[name])}<br><code>= {escape(expression)}</code></div>"
        )
    return "\n".join(['<form class="formula">', *rows, "</form>"])


def _text(label: str) -> str:
    """A label, whose backticks mark code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(label))


def with_forms(text: str) -> str:
    """A page's Markdown with forms in place of its formulas."""
    return FENCED.sub(lambda found: f"```{{raw}} html\n{form(found[1])}\n```", text)
