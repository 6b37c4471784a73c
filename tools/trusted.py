"""The trusted base: which files must be right for the promise to hold, how long they are, and why.

`make trusted` prints it; with ARGS="--policy FILE" also the mechanisms of other packages that the
policy names. A trusted file imports only trusted files and what `trusted.toml` lists
as outside with a reason; the test of the house runs the same check.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

TOP = Path(__file__).parents[1]
SOURCE = TOP / "src/adomnia"
GOAL = 5000
"""Lines of code that a researcher reads in a day: answers without exact releases."""
MOST = 5325
"""What there may be until the goal is reached again; a change that is smaller lowers it."""

SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Part:
    """Files that are trusted together; `base` ones for every answer, `whole` ones unchecked."""

    name: str
    files: dict[str, str]
    base: bool
    whole: bool

    @property
    def lines(self) -> int:
        """Lines of code in all of them."""
        return sum(code_lines(SOURCE / name) for name in self.files)


def code_lines(file: Path) -> int:
    """Lines that do something: no comments, texts that document, imports, or lists of names."""
    text = file.read_text("utf-8")
    said = {line for node in _silent(ast.parse(text)) for line in _span(node)}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = {
        line for t in tokens if t.type not in SILENT for line in range(t.start[0], t.end[0] + 1)
    }
    return len(found - said)


def _span(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _silent(tree: ast.Module) -> Iterator[ast.stmt]:
    """Texts that stand alone, imports, and what a file offers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):
                yield node
        elif isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            yield node


def parts() -> list[Part]:
    """What `trusted.toml` lists, folders opened."""
    found = []
    for part in _listed()["part"]:
        inside = [
            str(file.relative_to(SOURCE))
            for folder in part.get("folders", ())
            for file in sorted((SOURCE / folder).rglob("*.py"))
        ]
        files = {**part["files"], **dict.fromkeys(inside, part["name"])}
        found.append(Part(part["name"], files, part.get("base", False), part.get("whole", False)))
    return found


def _listed() -> dict:
    return tomllib.loads((TOP / "tools/trusted.toml").read_text("utf-8"))


def problems() -> list[str]:
    """What the list gets wrong: files that are not there, imports that nobody accounts for."""
    listed, outside = parts(), _listed()["outside"]
    trusted = {name for part in listed for name in part.files}
    found = [f"{name} is not there" for name in sorted(trusted) if not (SOURCE / name).exists()]
    for part in (part for part in listed if not part.whole):
        for name in part.files:
            for imported in _imports(SOURCE / name):
                known = imported in trusted or any(
                    imported == one or imported.startswith(f"{one}/") or imported == f"{one}.py"
                    for one in outside
                )
                if not known:
                    found.append(f"{name} imports {imported}, which nobody accounts for")
    return found


def _imports(file: Path) -> set[str]:
    """The files of the package that a file imports where it runs, types alone left out."""
    tree = ast.parse(file.read_text("utf-8"))
    checked = (node for node in ast.walk(tree) if isinstance(node, ast.If))
    typing = {line for node in checked if getattr(node.test, "id", "") == "TYPE_CHECKING"
              for line in _span(node)}  # fmt: skip
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.lineno not in typing:
            module = node.module or ""
            if module.split(".")[0] == "adomnia":
                names |= _files(module, [alias.name for alias in node.names])
    return names


def _files(module: str, names: list[str]) -> set[str]:
    base = SOURCE.joinpath(*module.split(".")[1:])
    if base.with_suffix(".py").exists():
        return {str(base.with_suffix(".py").relative_to(SOURCE))}
    inside = [base / f"{name}.py" for name in names]
    return {str(file.relative_to(SOURCE)) for file in inside if file.exists()}


def named_by(policy: Path) -> Iterator[tuple[str, list[Path]]]:
    """The mechanisms of other packages that a policy names, with all files of their packages."""
    from adomnia.mechanisms.registry import origin_of, registered  # noqa: PLC0415 (seldom asked)
    from adomnia.policy.policy import read_policy  # noqa: PLC0415

    points = registered()
    for name in read_policy(policy).mechanisms:
        if name not in points:
            yield f"{name}, which no installed package registers", []
            continue
        spec = find_spec(points[name].module.partition(".")[0])
        folders = (spec and spec.submodule_search_locations) or ()
        files = [file for folder in folders for file in sorted(Path(folder).rglob("*.py"))]
        if not files and spec is not None and spec.origin:
            files = [Path(spec.origin)]
        yield str(origin_of(points[name])), files


def print_named(policy: Path) -> None:
    """What the answers under a policy rest on beside our own files."""
    found = list(named_by(policy))
    more = " (what they import is trusted with them)" if found else ""
    print(f"\nmechanisms of other packages that {policy} names: {len(found)}{more}")
    for origin, files in found:
        print(f"  {origin}: {sum(map(code_lines, files)):,} lines")
        for file in files:
            print(f"    {code_lines(file):5,}  {file}")


def main() -> None:
    """Print the base, what each further promise adds, and whether the list is whole."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", type=Path, help="a policy, whose named mechanisms are listed")
    policy = parser.parse_args().policy
    base, listed = 0, parts()
    for part in listed:
        print(f"\n{part.name}: {part.lines:,} lines{', trusted whole' if part.whole else ''}")
        for name, why in sorted(part.files.items()):
            if why != part.name:  # a folder that is trusted whole is not listed file by file
                print(f"  {code_lines(SOURCE / name):5,}  {name}: {why}")
        base += part.lines if part.base else 0
    files = next(part for part in listed if part.name.startswith("sources: files"))
    print(f"\nfor every answer: {base:,} lines of code (goal {GOAL:,}, at most {MOST:,})")
    print(f"for an answer from files: {base + files.lines:,}")
    if policy is not None:
        print_named(policy)
    wrong = problems()
    print("\n".join(wrong) if wrong else "every import of a trusted file is accounted for")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
