"""Which energy conclusions survive a wrong price: every coefficient halved and doubled, for each saving of a paper.

No run is repeated: energies are linear in the prices, and stored runs keep the counters that they were made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpsift.costs.sensitivity import ALL_STATIC, FACTORS, Conclusion, Pair, Row, conclude, of_mean_ratio
from warpsift.report.figures import Chart, Figure

SHOWN = 6  # prices that move a saving most; the others are one line of the notes


def figure_of(cases: Mapping[str, Sequence[Pair]], claims: Mapping[str, float], reference: str, name: str) -> Figure:
    """A panel per conclusion, a pair of bars per price; the notes say what survives.

    `cases` are the pairs (plain, with the unit) behind each conclusion; `claims` what the paper says of it.
    """
    found = {case: {row.coefficient: row for row in of_mean_ratio(pairs)} for case, pairs in cases.items()}
    swings = {price: max(rows[price].swing for rows in found.values() if price in rows) for price in _prices(found)}
    ranked = sorted((price for price in swings if price != ALL_STATIC), key=lambda price: -swings[price])
    shown = [ALL_STATIC, *ranked[:SHOWN]]
    rows: list[dict[str, Any]] = []
    notes = []
    for case, pairs in cases.items():
        verdict = conclude(pairs)
        certain = _least_certain(pairs)
        for price in shown:
            row = found[case].get(price, Row(price, 0.0, verdict.saving, verdict.saving))
            for factor, value in zip(FACTORS, (row.halved, row.doubled), strict=True):
                line = {"case": case, "price": price, "factor": f"x {factor:g}", "value": value}
                rows.append(line | {"as priced": verdict.saving, "share of the baseline": row.share})
        notes.append(f"{case}: {_sentence(verdict)} {certain}{_beside(verdict, claims.get(case))}")
    if len(ranked) > SHOWN:
        rest = f"The other {len(ranked) - SHOWN} prices move none of these by more than {swings[ranked[SHOWN]]:.2f}."
        notes.append(rest)
    return Figure(
        "Energy conclusions if a price is wrong by a factor of two",
        Chart(
            "bars",
            x="price",
            y="value",
            series="factor",
            facet="case",
            y_label="energy, plain / with",
            reference=1,
            better="higher",
        ),
        rows,
        reference,
        (),
        notes,
        name=name,
    )


def _prices(found: Mapping[str, Mapping[str, Row]]) -> list[str]:
    return list(dict.fromkeys(price for rows in found.values() for price in rows))


def _least_certain(pairs: Sequence[Pair]) -> str:
    weakest = [after.least_certain for _, after in pairs]
    share = sum(entry["share"] for entry in weakest) / len(weakest)
    named = ", ".join(dict.fromkeys(str(entry["coefficient"]) for entry in weakest))
    return f"{100 * share:.0f} % of the energy with the unit rests on the least certain number ({named})."


def _sentence(verdict: Conclusion) -> str:
    return (
        f"{verdict.saving:.2f}, between {verdict.lowest:.2f} ({verdict.lowest_by}) and {verdict.highest:.2f} "
        f"({verdict.highest_by}); {verdict.text}."
    )


def _beside(verdict: Conclusion, claim: float | None) -> str:
    if claim is None:
        return ""
    if verdict.highest >= claim:
        return f" The paper's {claim:.3g} is reached with {verdict.highest_by}."
    return f" No price, halved or doubled, reaches the paper's {claim:.3g}."
