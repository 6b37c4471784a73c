"""Draw `docs/pictures/mining_*.svg`: what models learn through a session.

python docs/make_mining_pictures.py [NAME …]
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_digits, load_wine
from sklearn.naive_bayes import GaussianNB as Plain

from adomnia.curator.database import open_database
from adomnia.curator.session import Session
from adomnia.mining.components import PCA
from adomnia.mining.decision_tree import DecisionTree
from adomnia.mining.item_sets import FrequentItemSets
from adomnia.mining.k_means import KMeans
from adomnia.mining.logistic_regression import LogisticRegression
from adomnia.mining.naive_bayes import GaussianNB
from adomnia.mining.perceptron import Perceptron
from adomnia.mining.random_forest import RandomForest
from adomnia.present.drawing import svg
from adomnia.present.drawing.svg import element

HERE = Path(__file__).parent / "pictures"
EPSILONS = {0.1: "a", 1.0: "b", 10.0: "c"}
LEGEND = {f"ε = {epsilon:g}": kind for epsilon, kind in EPSILONS.items()}
GRID = (0.01, 0.03, 0.1, 0.3, 1, 3, 10)
FITS, SIZE, EDGE, BESIDE = 5, 340, 44, 150
INNER = SIZE - 2 * EDGE
STYLE = """
text{font:13px sans-serif;fill:#333}.f{fill:none;stroke:#999}.d{stroke:#999;stroke-width:3}
.a{stroke:#c2374b}.b{stroke:#2e6f95}.c{stroke:#2f7d3c}.n{stroke:#555}
path,polyline{fill:none;stroke-width:2;stroke-linecap:round}
text.a{fill:#c2374b}text.b{fill:#2e6f95}text.c{fill:#2f7d3c}text{stroke:none!important}
.no,.yes{opacity:.25}.s{stroke-width:3}
@media(prefers-color-scheme:dark){text{fill:#ddd}.n{stroke:#bbb}.a{stroke:#ff7b8a}
.b{stroke:#7cc0ea}.c{stroke:#7fd18c}text.a{fill:#ff7b8a}text.b{fill:#7cc0ea}text.c{fill:#7fd18c}}
"""
Point = Sequence[float]


# Rows


@contextmanager
def session(columns: Mapping[str, Any], listed: Mapping[str, Sequence[Any]]) -> Iterator[Session]:
    """A session on these rows; numbers that are not listed lie between 0 and 100."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(pa.table(dict(columns)), folder / "rows.parquet")
        text = '[data]\nsource = "rows.parquet"\n[privacy]\nepsilon = 100000\nconfirmed = true\n'
        for column in columns:
            domain = f"values = {list(listed[column])}" if column in listed else "low = 0\nhigh=100"
            text += f"[attributes.{column}]\n{domain}\n"
        (folder / "adomnia.toml").write_text(text, "utf-8")
        with open_database(folder / "adomnia.toml") as database:
            yield database.session()


def within(points: Any) -> np.ndarray:
    """Whole numbers between 0 and 100."""
    return np.clip(np.round(points), 0, 100).astype(int)


def two_classes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the plane; those past a slanting border are a one, but for one in twenty."""
    draw = np.random.default_rng(seed)
    points = within(draw.normal(50, 20, (3000, 2)))
    return points, (points @ [1, 0.6] > 85) ^ (draw.random(3000) < 0.05)


def fits(epsilon: float) -> Iterator[float]:
    """Almost the same epsilon several times: a question that is repeated has the same answer."""
    yield from (epsilon * (1 + turn / 1000) for turn in range(FITS))


# Drawing


def at(x: float, y: float) -> tuple[int, int]:
    """A point of the 100 x 100 plane in the picture."""
    return round(EDGE + x / 100 * INNER), round(SIZE - EDGE - y / 100 * INNER)


def dots(points: Any, kind: str = "d") -> str:
    """Points as one path of lines without length."""
    places = [at(x, y) for x, y in np.asarray(points).tolist()]
    return element("path", class_=f"{kind} s", d="".join(f"M{x} {y}h0" for x, y in places))


def cross(point: Point, kind: str) -> str:
    """A cross at a point."""
    x, y = at(*point)
    return element("path", class_=kind, d=f"M{x - 5} {y - 5}l10 10m0-10l-10 10")


def polyline(points: Sequence[Point], kind: str, dash: str = "") -> str:
    """Lines from point to point."""
    path = svg.points([at(*point) for point in points])
    return element("polyline", class_=kind, points=path, stroke_dasharray=dash or None)


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Words at a place of the picture."""
    return svg.text(words, x, y, class_=kind, text_anchor=anchor)


def marks(across: Mapping[float, str], up: Mapping[float, str]) -> list[str]:
    """What the axes say, at places of the 100 x 100 plane."""
    below = [
        text(at(x, 0)[0], SIZE - EDGE + 18, words, "", "middle") for x, words in across.items()
    ]
    return below + [text(EDGE - 5, at(0, y)[1] + 4, words, "", "end") for y, words in up.items()]


def picture(name: str, title: str, parts: Sequence[str], legend: Mapping[str, str]) -> None:
    """Write a picture with its frame, title and legend."""
    width = SIZE + BESIDE
    frame = element("rect", class_="f", x=EDGE, y=EDGE, width=INNER, height=INNER)
    beside = [
        text(SIZE - EDGE + 12, EDGE + 16 + 22 * i, words, kind)
        for i, (words, kind) in enumerate(legend.items())
    ]
    inside = [element("style", STYLE), frame, text(EDGE, EDGE - 14, title), *parts, *beside]
    drawn = svg.svg(title, width, SIZE, *(f"{part}\n" for part in inside),
                    xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {SIZE}")  # fmt: skip
    (HERE / f"mining_{name}.svg").write_text(drawn + "\n", "utf-8")


PLANE = marks({0: "0", 50: "50", 100: "100"}, {0: "0", 50: "50", 100: "100"})
SHARES = {0: "0 %", 50: "50 %", 100: "100 %"}


# The models


def k_means() -> None:
    """Centers of several fits among the rows."""
    draw = np.random.default_rng(1)
    centers = np.array([[20, 25], [75, 35], [50, 80]])
    points = within(centers[draw.integers(0, 3, 2000)] + 7 * draw.standard_normal((2000, 2)))
    parts = [*PLANE, dots(points[:250])]
    with session({"x": points[:, 0], "y": points[:, 1]}, {}) as asked:
        for epsilon, kind in EPSILONS.items():
            for some in fits(epsilon):
                model = KMeans(3).fit(asked, ["x", "y"], epsilon=some)
                parts += [cross(center, kind) for center in model.cluster_centers_.tolist()]
    picture("k_means", f"k-means: centers of {FITS} fits, 2,000 rows", parts, LEGEND)


def components() -> None:
    """The first component of several fits among the rows."""
    draw = np.random.default_rng(2)
    base = draw.standard_normal(2000)
    points = within(np.column_stack([50 + 16 * base, 50 + 10 * base + 4 * draw.normal(size=2000)]))
    parts = [*PLANE, dots(points[:250])]
    with session({"x": points[:, 0], "y": points[:, 1]}, {}) as asked:
        for epsilon, kind in EPSILONS.items():
            for some in fits(epsilon):
                model = PCA(1).fit(asked, ["x", "y"], epsilon=some)
                half = 40 * model.components_[0]
                parts.append(polyline([model.mean_ - half, model.mean_ + half], kind))
    picture("components", f"first component of {FITS} fits, 2,000 rows", parts, LEGEND)


def by_epsilon(
    makes: Mapping[str, Callable[[], Any]], X: np.ndarray, y: np.ndarray
) -> dict[str, list[tuple[float, float]]]:
    """The mean share of held-out rows whose class is found, over epsilon, as points to draw."""
    names, train = [f"c{i}" for i in range(X.shape[1])], len(y) * 2 // 3
    columns = dict(zip(names, X[:train].T, strict=True))
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in makes}
    with session({**columns, "y": y[:train]}, {"y": sorted(set(y.tolist()))}) as asked:
        for kind, make in makes.items():
            for epsilon in GRID:
                scores = [make().fit(asked, names, "y", epsilon=some).score(X[train:], y[train:])
                          for some in fits(epsilon)]  # fmt: skip
                place = 100 * (np.log10(epsilon) + 2) / 3
                found[kind].append((place, 100 * float(np.mean(scores))))
    return found


EPSILON_MARKS = marks({0: "0.01", 100 / 3: "0.1", 200 / 3: "1", 100: "ε = 10"}, SHARES)


def naive_bayes() -> None:
    """How often the class of new rows is found, by epsilon, in the wines of scikit-learn."""
    X, y = _mixed(load_wine())
    found = by_epsilon({"b": GaussianNB}, X, y)["b"]
    train = len(y) * 2 // 3
    best = 100 * Plain().fit(X[:train], y[:train]).score(X[train:], y[train:])
    parts = [*EPSILON_MARKS, polyline(found, "b"), polyline([(0, best), (100, best)], "n", "4 6")]
    legend = {f"mean of {FITS} fits": "b", "not private": "n"}
    picture("naive_bayes", "naive Bayes: new wines that are told apart", parts, legend)


def _mixed(held: Any) -> tuple[np.ndarray, np.ndarray]:
    """A bundled set in whole numbers from 0 to 100, its rows mixed."""
    low, high = held.data.min(axis=0), held.data.max(axis=0)
    order = np.random.default_rng(0).permutation(len(held.target))
    X = within(100 * (held.data - low) / np.where(high > low, high - low, 1))
    return X[order], held.target[order]


def random_forest() -> None:
    """How often a new digit is read, by epsilon: one tree and many."""
    makes = {"a": lambda: DecisionTree(seed=1), "b": lambda: RandomForest(seed=1)}
    found = by_epsilon(makes, *_mixed(load_digits()))
    parts = [*EPSILON_MARKS, *(polyline(points, kind) for kind, points in found.items())]
    legend = {"forest": "b", "one tree": "a"}
    picture("random_forest", "handwritten digits that are read", parts, legend)


def decision_tree() -> None:
    """What a tree says of each place of the plane."""
    points, yes = two_classes(4)
    columns = {"x": points[:, 0], "y": points[:, 1], "class": yes.astype(int)}
    with session(columns, {"class": [0, 1]}) as asked:
        model = DecisionTree().fit(asked, ["x", "y"], "class", epsilon=1)
    said = model.predict([(x + 1, y + 1) for y in range(0, 100, 2) for x in range(0, 100, 2)])
    parts = [*PLANE, *_regions(said.reshape(50, 50)), dots(points[~yes][:120], "b"),
             dots(points[yes][:120], "a")]  # fmt: skip
    picture("decision_tree", "a tree at ε = 1, 3,000 rows", parts, {"yes": "a", "no": "b"})


def _regions(said: np.ndarray) -> Iterator[str]:
    """Runs of equal classes, row by row, as one path for each class."""
    for value, kind in ((0, "no"), (1, "yes")):
        path = ""
        for line, row in enumerate(said):
            edges = np.flatnonzero(np.diff(np.concatenate([[0], row == value, [0]])))
            for start, end in edges.reshape(-1, 2).tolist():
                (x, low), (right, top) = at(2 * start, 2 * line), at(2 * end, 2 * line + 2)
                path += f"M{x} {low}H{right}V{top}H{x}z"
        fill = {"no": "#2e6f95", "yes": "#c2374b"}[kind]
        yield element("path", class_=kind, style=f"stroke:none;fill:{fill}", d=path)


def item_sets() -> None:
    """Supports with their margins, and what they are exactly."""
    draw = np.random.default_rng(5)
    bread, tea = draw.random(3000) < 0.5, draw.random(3000) < 0.4
    butter, jam = bread & (draw.random(3000) < 0.8), tea & (draw.random(3000) < 0.5)
    rows = {"bread": bread, "butter": butter, "tea": tea, "jam": jam}
    columns = {name: column.astype(int) for name, column in rows.items()}
    with session(columns, dict.fromkeys(columns, (0, 1))) as asked:
        model = FrequentItemSets(0.1, 2).fit(asked, list(columns), epsilon=0.3)
    parts, shown = marks({0: "0 %", 50: "30 %", 100: "60 %"}, {}), model.sets_[:8]
    for place, each in enumerate(shown):
        names = [item.split(" = ")[0] for item in each.items]
        y, low, high = 94 - 11 * place, each.support - each.margin, each.support + each.margin
        exact = float(np.mean(np.logical_and.reduce([rows[name] for name in names])))
        parts += [polyline([(max(0, low) / 0.006, y), (high / 0.006, y)], "b"),
                  dots([(each.support / 0.006, y)], "b"), cross((exact / 0.006, y), "a"),
                  text(SIZE - EDGE + 8, at(0, y)[1] + 4, " and ".join(names))]  # fmt: skip
    picture("item_sets", "supports at ε = 0.3 with margins, and exactly (×)", parts, {})


def logistic_regression() -> None:
    """The probability of a class over a number, as three fits have it."""
    draw = np.random.default_rng(6)
    x = draw.integers(0, 101, 3000)
    yes = draw.random(3000) < _chance(x)
    grid = np.arange(101)
    truth = list(zip(grid, 100 * _chance(grid), strict=True))
    parts = [*marks({0: "0", 50: "50", 100: "100"}, SHARES), polyline(truth, "n", "4 6")]
    with session({"x": x, "y": yes.astype(int)}, {"y": [0, 1]}) as asked:
        for epsilon, kind in EPSILONS.items():
            model = LogisticRegression().fit(asked, ["x"], "y", epsilon=epsilon)
            chances = 100 * model.predict_proba(grid[:, None])[:, 1]
            parts.append(polyline(list(zip(grid, chances, strict=True)), kind))
    legend = {**LEGEND, "the truth": "n"}
    picture("logistic_regression", "the chance of a yes, 3,000 rows", parts, legend)


def _chance(x: Any) -> Any:
    return 0.1 + 0.8 / (1 + np.exp(-(x - 55) / 8))


def perceptron() -> None:
    """Borders of several fits between two classes."""
    points, yes = two_classes(7)
    columns = {"x": points[:, 0], "y": points[:, 1], "class": yes.astype(int)}
    parts = [*PLANE, dots(points[~yes][:150]), dots(points[yes][:150], "n")]
    with session(columns, {"class": [0, 1]}) as asked:
        for epsilon, kind in EPSILONS.items():
            for some in fits(epsilon):
                model = Perceptron().fit(asked, ["x", "y"], "class", epsilon=some)
                ends = _border(model.coef_, model.intercept_)
                parts += [polyline(ends, kind)] if len(ends) == 2 else []
    legend = {**LEGEND, "dark dots: yes": "n"}
    picture("perceptron", f"borders of {FITS} fits, 3,000 rows", parts, legend)


def _border(slopes: np.ndarray, shift: float) -> list[tuple[float, float]]:
    """Where a line enters and leaves the 100 x 100 plane."""
    a, b = slopes.tolist()
    ends = [(x, -(shift + a * x) / b) for x in (0.0, 100.0) if b]
    ends += [(-(shift + b * y) / a, y) for y in (0.0, 100.0) if a]
    return [(x, y) for x, y in ends if 0 <= x <= 100 and 0 <= y <= 100][:2]


PICTURES = (k_means, components, naive_bayes, decision_tree, random_forest, item_sets,
            logistic_regression, perceptron)  # fmt: skip


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for draw_it in PICTURES:
        if not sys.argv[1:] or draw_it.__name__ in sys.argv[1:]:
            draw_it()
