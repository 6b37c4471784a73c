"""Draw `docs/mining_*.svg`: what models learn of made-up rows through a session.

python docs/make_mining_pictures.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from adomnia.curator.database import open_database
from adomnia.curator.session import Session
from adomnia.mining.components import PCA
from adomnia.mining.k_means import KMeans
from adomnia.mining.naive_bayes import GaussianNB

HERE = Path(__file__).parent
COLORS = {0.1: "#d1495b", 1.0: "#2e6f95", 10.0: "#3a7d44"}
SIZE, EDGE = 360, 40
FITS = 6
STYLE = "font-family:sans-serif;font-size:13px"


@contextmanager
def session(columns: Mapping[str, Any], values: Mapping[str, str]) -> Iterator[Session]:
    """A session on made-up rows; numbers lie between 0 and 100."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(pa.table(dict(columns)), folder / "rows.parquet")
        parts = [
            f"[attributes.{name}]\n{values.get(name, 'low = 0' + chr(10) + 'high = 100')}\n"
            for name in columns
        ]
        head = '[data]\nsource = "rows.parquet"\n[privacy]\nepsilon = 100000\nconfirmed = true\n'
        (folder / "adomnia.toml").write_text(head + "".join(parts), "utf-8")
        with open_database(folder / "adomnia.toml") as database:
            yield database.session()


def _at(x: float, y: float) -> tuple[float, float]:
    """A point of the 100 x 100 plane in the picture."""
    inner = SIZE - 2 * EDGE
    return EDGE + x / 100 * inner, SIZE - EDGE - y / 100 * inner


def _dot(x: float, y: float, color: str = "#bbb", size: float = 1.6) -> str:
    left, top = _at(x, y)
    return f'<circle cx="{left:.1f}" cy="{top:.1f}" r="{size}" fill="{color}"/>'


def _cross(x: float, y: float, color: str) -> str:
    left, top = _at(x, y)
    arms = f"M{left - 5:.1f} {top - 5:.1f}l10 10m0 -10l-10 10"
    return f'<path d="{arms}" stroke="{color}" stroke-width="2" fill="none"/>'


def _line(points: list[tuple[float, float]], color: str, dash: str = "") -> str:
    path = " ".join(f"{left:.1f},{top:.1f}" for left, top in (_at(*point) for point in points))
    more = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"{more}/>'


def _text(x: float, y: float, words: str, color: str = "#333") -> str:
    return f'<text x="{x}" y="{y}" fill="{color}">{words}</text>'


def _legend(words: Mapping[str, str]) -> str:
    return "".join(
        _text(SIZE + 5, EDGE + 22 * place, text, color)
        for place, (text, color) in enumerate(words.items())
    )


def _picture(name: str, title: str, parts: list[str]) -> None:
    frame = f'<rect x="{EDGE}" y="{EDGE}" width="{SIZE - 2 * EDGE}" height="{SIZE - 2 * EDGE}"'
    frame += ' fill="none" stroke="#ccc"/>'
    size = f'viewBox="0 0 {SIZE + 150} {SIZE}" width="{SIZE + 150}" height="{SIZE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{title}" {size}'
    ground = f'<rect width="{SIZE + 150}" height="{SIZE}" fill="white"/>'
    body = "\n".join([ground, frame, _text(EDGE, EDGE - 12, title), *parts])
    (HERE / f"mining_{name}.svg").write_text(f'{head} style="{STYLE}">\n{body}\n</svg>\n', "utf-8")


def _spent() -> dict[str, str]:
    return {f"ε = {epsilon:g}": color for epsilon, color in COLORS.items()}


def k_means() -> None:
    """Centers of several fits among the rows."""
    draw = np.random.default_rng(1)
    centers = np.array([[20, 25], [75, 35], [50, 80]])
    points = centers[draw.integers(0, 3, 2000)] + 7 * draw.standard_normal((2000, 2))
    points = np.clip(np.round(points), 0, 100).astype(int)
    parts = [_dot(x, y) for x, y in points[:600].tolist()]
    with session({"x": points[:, 0], "y": points[:, 1]}, {}) as asked:
        for epsilon, color in COLORS.items():
            for turn in range(FITS):
                model = KMeans(3).fit(asked, ["x", "y"], epsilon=epsilon * (1 + turn / 1000))
                parts += [_cross(x, y, color) for x, y in model.cluster_centers_.tolist()]
    title = f"k-means: centers of {FITS} fits, 2,000 rows"
    _picture("k_means", title, [*parts, _legend(_spent())])


def components() -> None:
    """The first component of several fits among the rows."""
    draw = np.random.default_rng(2)
    base = draw.standard_normal(2000)
    x, y = 50 + 16 * base, 50 + 10 * base + 4 * draw.standard_normal(2000)
    points = np.clip(np.round(np.column_stack([x, y])), 0, 100).astype(int)
    parts = [_dot(x, y) for x, y in points[:600].tolist()]
    with session({"x": points[:, 0], "y": points[:, 1]}, {}) as asked:
        for epsilon, color in COLORS.items():
            for turn in range(FITS):
                model = PCA(1).fit(asked, ["x", "y"], epsilon=epsilon * (1 + turn / 1000))
                half = 40 * model.components_[0]
                parts.append(_line([tuple(model.mean_ - half), tuple(model.mean_ + half)], color))
    title = f"first principal component of {FITS} fits, 2,000 rows"
    _picture("components", title, [*parts, _legend(_spent())])


def naive_bayes() -> None:
    """How often the class of new rows is found, by epsilon."""
    draw = np.random.default_rng(3)
    y = draw.integers(0, 3, 3000)
    middles = draw.integers(30, 70, (3, 5))
    X = np.clip(np.round(middles[y] + 12 * draw.standard_normal((3000, 5))), 0, 100).astype(int)
    names = [f"c{place}" for place in range(5)]
    columns = {name: X[:2000, place] for place, name in enumerate(names)}
    grid = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    with session({**columns, "y": y[:2000]}, {"y": "values = [0, 1, 2]"}) as asked:
        found = []
        for epsilon in grid:
            scores = [
                GaussianNB().fit(asked, names, "y", epsilon=epsilon * (1 + turn / 1000))
                .score(X[2000:], y[2000:]) for turn in range(FITS)
            ]  # fmt: skip
            found.append(float(np.mean(scores)))
        best = GaussianNB().fit(asked, names, "y", epsilon=10_000).score(X[2000:], y[2000:])
    places = [(np.log10(epsilon) + 2) / 3 * 100 for epsilon in grid]
    parts = [_line([(x, 100 * s) for x, s in zip(places, found, strict=True)], COLORS[1.0])]
    parts += [_dot(x, 100 * s, COLORS[1.0], 3) for x, s in zip(places, found, strict=True)]
    parts.append(_line([(0, 100 * best), (100, 100 * best)], "#333", "4 4"))
    for epsilon in (0.01, 0.1, 1, 10):
        left, top = _at((np.log10(epsilon) + 2) / 3 * 100, 0)
        parts.append(_text(left - 10, top + 18, f"ε={epsilon:g}"))
    for share in (0, 50, 100):
        left, top = _at(0, share)
        parts.append(_text(left - 36, top + 4, f"{share} %"))
    words = {f"mean of {FITS} fits": COLORS[1.0], "almost no noise": "#333"}
    _picture("naive_bayes", "naive Bayes: new rows whose class is found", [*parts, _legend(words)])


if __name__ == "__main__":
    k_means()
    components()
    naive_bayes()
