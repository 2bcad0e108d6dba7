"""Reproduce a paper: run what its figures need, each run once, and write the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from warpsift.errors import WarpsiftError, unknown
from warpsift.report.figures import Claims, Figure, Report
from warpsift.report.html import write_report
from warpsift.report.provenance import provenance_of
from warpsift.run.reading import reading_named
from warpsift.store.store import Store
from warpsift.studies.claim import HELPED, judge, summary
from warpsift.studies.claims_table import claims_of, columns, write_csv
from warpsift.studies.scale import SCALES, Scale, real_files
from warpsift.studies.stored_runs import StoredRuns
from warpsift.sweep import FailedRun, SweepOptions, run_sweep

PAPERS = {
    "scu": "warpsift.studies.scu",
    "mff": "warpsift.studies.mff",
    "which-unit": "warpsift.studies.which_unit",
}


READ_PAPERS = ("scu", "mff")  # published: they can be read in several ways, judged claim by claim, and sampled
READING = "authors"  # unless another is asked for
FULL_SIZE_SAMPLE = 20  # so that a paper at full size takes about an hour
NEAR = 0.25  # a value of the paper counts as met when ours is within this share of it


NO_CONCLUSION = (
    "A quick look: graphs at 1/{} of the papers' size. It shows that everything runs and concludes nothing: at full "
    "size a win may be a loss."
)


EXPLAINED = "The pages scu-claims.md, mff-claims.md and energy.md of the documentation explain the differences."


class ReproduceError(WarpsiftError):
    """A paper or a scale that does not exist."""


@dataclass(frozen=True)
class Plan:
    """What to reproduce, how large, and where it goes."""

    paper: str
    scale: Scale
    folder: Path
    options: SweepOptions = field(default_factory=SweepOptions)


def scale_named(
    name: str, paper: str, graphs: Path | None, reading: str | None = None, sample: int | None = None
) -> Scale:
    """A scale under a reading, with the user's real graph files if there is a folder of them."""
    if name not in SCALES:
        raise ReproduceError(unknown("scale", name, list(SCALES)))
    if reading is not None:
        reading_named(reading)  # a clear sentence if there is none
    files = {} if graphs is None else real_files(graphs, list(_module(paper).GRAPHS))
    if paper in READ_PAPERS:
        reading = reading or READING
        if sample is None:
            sample = FULL_SIZE_SAMPLE if SCALES[name].denominator == 1 else 0
    elif sample:
        raise ReproduceError(f"--sample is for {' and '.join(READ_PAPERS)}: leave it out")
    return replace(SCALES[name], files=files, reading=reading, sample=sample or 0)


def _module(paper: str) -> Any:
    if paper not in PAPERS:
        raise ReproduceError(unknown("paper", paper, list(PAPERS)))
    return import_module(PAPERS[paper])


def summary_of(
    figures: Sequence[Figure], scale: Scale, claims: Claims | None = None, real_graphs: Sequence[str] = ()
) -> list[str]:
    """How much of the paper was met, and what was real, in a few sentences."""
    stated = [row for figure in figures for row in figure.comparison() if row["ratio"] is not None]
    close = [row for row in stated if 1 - NEAR <= row["ratio"] <= 1 + NEAR]
    names = list(dict.fromkeys([*scale.files, *real_graphs]))
    real = f"Read from files: {', '.join(names)}. The others" if names else "All graphs"
    found = []
    if not scale.conclusive:
        return [NO_CONCLUSION.format(scale.denominator)]
    if claims is not None:
        found += [claims.verdict, EXPLAINED]
    elif stated:
        text = f"Met within {100 * NEAR:.0f} %: {len(close)} of {len(stated)} values that the paper states"
        listed = "; ".join(f"{row['claim']} ({row['ours']:.3g}, paper {row['paper']:.3g})" for row in close)
        found.append(f"{text}: {listed}." if close else f"{text}.")
        found.append(EXPLAINED)
    if scale.sample:
        found.append(
            f"Runs are sampled, one part in {scale.sample}: error bars hold the 95 % intervals beside the spread over "
            "sources (sampling.md)."
        )
    found.append(f"{real} are generated: same nodes, arcs and kind of degree distribution, not the same graph.")
    return found


def _further_options(scale: Scale) -> str:
    reading = f" --reading {scale.reading}" if scale.reading else ""
    return reading + f" --sample {scale.sample}" if scale.reading else reading


def _subtitle(plan: Plan, paper: Any) -> str:
    """A study may have sizes of its own."""
    size = paper.size(plan.scale) if hasattr(paper, "size") else plan.scale.size(paper.GRAPHS)
    reading = f", reading {plan.scale.reading}" if plan.scale.reading else ""
    return f"reproduced by warpsift, graphs at {size}{reading}"


def _claims(plan: Plan, paper: str) -> Claims | None:
    """The table of a paper's claims: under the plan's reading, then under others whose runs the folder has."""
    scale = plan.scale
    if scale.reading is None or paper not in READ_PAPERS or not scale.conclusive:
        return None
    with Store(plan.folder / "results.db", readonly=True) as ledger:
        records = ledger.records(("done",))
    others = {record.request["reading"] for record in records} - {scale.reading, None}
    sizes = ("" if scale.denominator == 1 else f"@1/{scale.denominator}",)
    runs = [
        StoredRuns(records, reading, sizes, sample=scale.sample, files=scale.files)
        for reading in [scale.reading, *sorted(others)]
    ]
    judged = judge(claims_of(paper), runs)
    data = plan.folder / "report-files" / "data"
    data.mkdir(parents=True, exist_ok=True)
    write_csv(data / "claims.csv", judged)
    rows = [each.cells() for each in judged]
    return Claims(summary(judged), columns([each.reading for each in runs]), rows, HELPED)


def reproduce(plan: Plan) -> tuple[Path, list[Figure]]:
    """Run, draw, write; what is already in the store is not run again."""
    paper = _module(plan.paper)
    plan.folder.mkdir(parents=True, exist_ok=True)
    requests = [request for experiment in paper.EXPERIMENTS for request in experiment.matrix(plan.scale)]
    requests += paper.claim_requests(plan.scale) if hasattr(paper, "claim_requests") else []
    results = run_sweep(requests, plan.folder / "results.db", plan.options)
    figures, missing = [], []
    for experiment in paper.EXPERIMENTS:
        try:
            figures.append(experiment.figure(results, plan.scale))
        except FailedRun as error:
            name = experiment.__name__ if isinstance(experiment, ModuleType) else experiment.name
            missing.append(f"Left out: {name.rpartition('.')[2]}; {error}.")
    claims, provenance = _claims(plan, plan.paper), provenance_of(results)
    real = [str(row["graph"]) for row in provenance.graphs if row["origin"] == "file"]
    report = Report(
        title=paper.TITLE,
        figures=figures,
        subtitle=_subtitle(plan, paper),
        summary=[*summary_of(figures, plan.scale, claims, real), *missing],
        claims=claims,
        provenance=provenance,
        command=f"warpsift reproduce {plan.paper} --scale {plan.scale.name}{_further_options(plan.scale)}",
        conclusive=plan.scale.conclusive,
    )
    return write_report(plan.folder / "report.html", report), figures
