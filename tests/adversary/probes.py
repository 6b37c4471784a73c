"""Statements that touch what a fault is planted in."""

from __future__ import annotations

SUMS = (
    "SELECT SUM(income) FROM people",
    "SELECT SUM(age) FROM people WHERE smoker",
    "SELECT sex, SUM(age) FROM people GROUP BY sex",
)
COUNTS = (
    "SELECT COUNT(*) FROM people WHERE smoker",
    "SELECT ill, COUNT(*) FROM people GROUP BY 1",
    "SELECT COUNT(*), COUNT(*) FILTER (WHERE sex = 'F') FROM people",
)
GROUPS = (
    "SELECT sex, COUNT(*) FROM people GROUP BY sex",
    "SELECT zip, ill, SUM(age) FROM people GROUP BY 1, 2",
    "SELECT age, COUNT(DISTINCT zip) FROM people GROUP BY 1",
)
FILTERS = (
    "SELECT COUNT(*) FILTER (WHERE sex = 'F'), COUNT(*) FILTER (WHERE smoker), "
    "COUNT(*) FILTER (WHERE zip = 1) FROM people",
    "SELECT COUNT(*) FILTER (WHERE zip = 1), COUNT(*) FILTER (WHERE zip = 2), "
    "COUNT(*) FILTER (WHERE zip = 3), COUNT(*) FILTER (WHERE zip < 4) FROM people",
    "SELECT sex, COUNT(*) FILTER (WHERE zip = 1), COUNT(*) FILTER (WHERE zip = 2) "
    "FROM people WHERE smoker GROUP BY 1",
)
MOMENTS = (
    "SELECT AVG(age) FROM people",
    "SELECT VAR_SAMP(age), COUNT(*) FROM people",
    "SELECT sex, AVG(income), COUNT(*) FROM people WHERE smoker GROUP BY 1",
)
RANKS = (
    "SELECT MEDIAN(age) FROM people",
    "SELECT MAX(age) FROM people",
    "SELECT sex, QUANTILE(income, 0.9) FROM people GROUP BY sex",
)
DISTINCT = (
    "SELECT COUNT(DISTINCT age) FROM people",
    "SELECT sex, COUNT(DISTINCT zip) FROM people GROUP BY sex",
)
MODES = ("SELECT MODE(sex) FROM people", "SELECT sex, MODE(zip) FROM people GROUP BY sex")
OPEN = (
    "SELECT city, COUNT(*) FROM people GROUP BY city",
    "SELECT city, SUM(age), COUNT(*) FROM people GROUP BY city",
)
SEVERAL = (
    "SELECT COUNT(*), SUM(age), MEDIAN(income) FROM people WHERE smoker",
    "SELECT sex, SUM(income), COUNT(DISTINCT zip) FROM people GROUP BY sex",
)
UNITS = (*COUNTS, *GROUPS, "SELECT COUNT(DISTINCT pid) FROM people")
CHOICES = ("noisy_max", "above", "auction")
