"""A clinic with patients, visits and diagnoses, and public wards: files, and a policy of them."""

from __future__ import annotations

from pathlib import Path

TABLES = """[tables.patients]
source = "patients.csv"
key = "id"
description = "Who was ever admitted."
[tables.patients.attributes.sex]
values = ["F", "M"]
description = "As in the passport."
[tables.patients.attributes.age]
low = 0
high = 99
[tables.visits]
source = "visits.csv"
key = "id"
references = { patient = "patients" }
[tables.visits.attributes.ward]
values = ["a", "b", "c"]
[tables.visits.attributes.cost]
low = 0
high = 1000
[tables.diagnoses]
source = "diagnoses.csv"
references = { visit = "visits" }
[tables.diagnoses.attributes.code]
values = ["flu", "cold"]
"""
MORE = """[public.wards]
source = "wards.csv"
key = "ward"
[views.stays]
sql = "SELECT p.sex, v.ward, v.cost FROM visits v JOIN patients p ON v.patient = p.id"
description = "Visits with the patient's sex."
"""
PRIVACY = """[privacy]
unit = "patients"
epsilon = 1000
confirmed = true
max_rows = { visits = 4, diagnoses = 8 }
[analysts.alice]
epsilon = 500
[analysts.bob]
epsilon = 1
[analysts.carol]
epsilon = 500
"""

JOINED = "SELECT p.sex, COUNT(*) AS n FROM visits v JOIN patients p ON v.patient = p.id GROUP BY 1"
PER_PATIENT = (
    "SELECT AVG(n) AS mean FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) t"
)


def write_clinic(
    folder: Path, patients: int = 60, privacy: str = PRIVACY, tables: str = TABLES
) -> Path:
    """Files and policy; the policy's path. A row of visits and one of diagnoses are nobody's."""
    lines = {
        "patients": ["id,sex,age,surname"],
        "visits": ["id,patient,ward,cost", "lost,nobody,a,1"],
        "diagnoses": ["visit,code", "nothing,flu"],
        "wards": ["ward,floor", "a,1", "b,1", "c,2"],
    }
    for patient in range(patients):
        lines["patients"].append(f"p{patient},{'FM'[patient % 2]},{patient},Zzmayer")
        for turn in range(patient % 4):
            key = f"v{patient}-{turn}"
            lines["visits"].append(f"{key},p{patient},{'abc'[turn]},{10 * turn}")
            lines["diagnoses"].append(f"{key},{('flu', 'cold')[turn % 2]}")
    for name, listed in lines.items():
        (folder / f"{name}.csv").write_text("\n".join(listed) + "\n", "utf-8")
    policy = folder / "adomnia.toml"
    policy.write_text(tables + MORE + privacy, "utf-8")
    return policy
