"""Does the promise fit the data? A few questions, and the guideline of paper 000 as an answer.

Differential privacy hides a row. It hides a person's participation only where deleting the row
erases all evidence of it; whether it does depends on how the data came about, and no program can
read that off the data (`questionnaire.md`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from adomnia.audit.finding import Finding, Rate
from adomnia.errors import QuestionError

__all__ = ["QUESTIONS", "Advice", "Answers", "Step", "advise"]

Verdict = Literal["fits", "fits with", "does not fit", "unknown"]
KIFER = "Kifer and Machanavajjhala, No Free Lunch in Data Privacy, SIGMOD 2011"
DWORK = "Dwork, An Ad Omnia Approach to Defining and Achieving Private Data Analysis, PinKDD 2007"

QUESTIONS = {
    "independent": "Are the records of different people independent of each other (no families,"
    " households, schools or infections that make them alike)?",
    "exact": "Were statistics of these very data ever released exactly (totals, tables, minutes)?",
    "influence": "Does a person shape the rows of others (a network that grows, contagion, ratings"
    " that others copy)?",
    "several_rows": "May one person have several rows?",
    "repeated": "Is the data collected and answered from again over time, with the same people?",
}
"""What is asked, by the name under which `Answers` holds the reply."""


@dataclass(frozen=True)
class Answers:
    """True, False, or None where nobody knows; an unknown is treated as the worse answer.

    `group`: how many records move together at most; `rows`: how many rows a person has at most;
    `releases`: how often the data is answered from again. None where it is not known.

    Raises a QuestionError where a number is below one.

    >>> Answers(independent=True, group=1).several_rows is None
    True
    """

    independent: bool | None = None
    exact: bool | None = None
    influence: bool | None = None
    several_rows: bool | None = None
    repeated: bool | None = None
    group: int | None = None
    rows: int | None = None
    releases: int | None = None

    def __post_init__(self) -> None:
        numbers = (self.group, self.rows, self.releases)
        if any(number is not None and number < 1 for number in numbers):
            raise QuestionError("a group, rows of a person and releases are one or more")


@dataclass(frozen=True)
class Step:
    """One thing to do: which answer asks for it, what to use, why, and who says so.

    `policy` is the part of the policy file that does it, empty where no setting can.
    """

    question: str
    use: str
    reason: str
    reference: str
    policy: str = ""


@dataclass(frozen=True)
class Advice:
    """Whether one row as the neighbour is the right promise for the data, and what to use if not.

    `verdict`: `fits`; `fits with` the steps, each of which a policy can state; `does not fit`
    where no neighbour relation here hides participation; `unknown` where answers are missing.

    >>> Advice("fits", (), ()).fits
    True
    """

    verdict: Verdict
    steps: tuple[Step, ...]
    unknown: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether the promise, with the policy's settings in the steps, means what people think."""
        return self.verdict in {"fits", "fits with"}

    def finding(self) -> Finding:
        """The advice as a finding; `success` is the share of the questions that raise a doubt."""
        doubts = len({step.question for step in self.steps}) / len(QUESTIONS)
        uses = "; ".join(step.use for step in self.steps)
        return Finding(
            attack="questionnaire",
            claim=f"Whether hiding one row hides a person, for data as described: {self.verdict}.",
            affected="everybody in the data, and people who are alike or connected to them",
            success=Rate(doubts, doubts, doubts, 1.0),
            baseline=0.0,
            covered=self.fits,
            source=f"{KIFER}, section 2.2.1",
            remedy=uses or "none needed: deleting a row erases all evidence of its person",
            details={
                "verdict": self.verdict,
                "unknown": list(self.unknown),
                "steps": [vars(step) for step in self.steps],
            },
            complete=not self.unknown,
        )


def advise(answers: Answers) -> Advice:
    """Apply the guideline: does deleting a person's row erase all evidence of participation?

    Returns the verdict, the steps that a policy can take, and the questions that are open.

    >>> advise(Answers()).verdict
    'unknown'
    """
    steps: list[Step] = []
    if not answers.independent:
        steps += _correlated(answers.group)
    if answers.exact is not False:
        steps.append(_released())
    if answers.influence is not False:
        steps += _influence()
    if answers.several_rows is not False:
        steps.append(_unit(answers.rows))
    if answers.repeated is not False:
        steps.append(_repeated(answers.releases))
    unknown = tuple(
        field.name
        for field in fields(answers)
        if field.name in QUESTIONS and getattr(answers, field.name) is None
    )
    return Advice(_verdict(answers, steps, unknown), tuple(steps), unknown)


def _verdict(answers: Answers, steps: list[Step], unknown: tuple[str, ...]) -> Verdict:
    unbounded = answers.independent is False and answers.group is None
    if answers.influence or unbounded:
        return "does not fit"
    if unknown:
        return "unknown"
    return "fits with" if steps else "fits"


def _correlated(group: int | None) -> list[Step]:
    if group is not None:
        reason = (
            f"an answer can move the odds about one person by e^({group} epsilon) where {group}"
            " records move together; with groups as neighbours, by e^epsilon again"
        )
        use = f"neighbours that differ in groups of {group}"
        return [Step("independent", use, reason, f"{KIFER}, example 2.1", f"group = {group}")]
    reason = (
        "records that depend on each other are evidence about a person that deleting one row"
        " leaves in place; how much noise hides it depends on how many move together"
    )
    bound = Step(
        "independent",
        "a bound on how many records move together, then `group`; `correlation` computes what an"
        " answer tells under a chain or groups",
        reason,
        f"{KIFER}, section 2.2.1",
    )
    return [bound, _free_lunch("independent")]


def _free_lunch(question: str) -> Step:
    return Step(
        question,
        "free-lunch privacy (any two tables are neighbours), or no release at all",
        "it alone assumes nothing of the data, and no answer of use passes it: k tables are told"
        " apart with probability e^epsilon/(k - 1 + e^epsilon) at most",
        f"{KIFER}, definition 2.3 and theorem 2.1",
    )


def _released() -> Step:
    return Step(
        "exact",
        "neighbours induced by what was released (`[[prior]]`), and the audit `prior_leak`",
        "exact numbers tie rows together: a neighbour must agree with them, which one changed row"
        " cannot, and noisy answers that ignore them can be averaged into the whole table",
        f"{KIFER}, sections 4.1 to 4.3",
        '[[prior]]\nsql = "SELECT …"',
    )


def _influence() -> list[Step]:
    return [
        Step(
            "influence",
            "node neighbours where a person is a node, edge neighbours for one link alone; and an"
            " audit of influence under a model of how the data grew",
            "deleting a link afterwards changes a count by one; had it never been there, many"
            " others might not be either, and that difference is not hidden",
            f"{KIFER}, section 3",
        ),
        _free_lunch("influence"),
    ]


def _unit(rows: int | None) -> Step:
    most = f"max_rows = {rows}" if rows is not None else "max_rows = …"
    return Step(
        "several_rows",
        "a unit: all rows of one person are one neighbour",
        "a promise about rows holds for m rows of one person only as e^(m epsilon)",
        f"{DWORK}, remark 2.2",
        f'unit = "…"\n{most}',
    )


def _repeated(releases: int | None) -> Step:
    times = "every release" if releases is None else f"all {releases} releases"
    return Step(
        "repeated",
        f"one budget for {times}, and the person as unit over all of them",
        "losses add up: a new ledger for each year would promise epsilon anew to people who are"
        " in all of them",
        f"{DWORK}, section 3",
        "epsilon = …   # for everything, for ever",
    )
