"""The figures of `bench goals` as text for people."""

from __future__ import annotations

from penstock.bench.goals.run import GoalDocument
from penstock.table import table


def goals_text(made: GoalDocument) -> str:
    """A row for each case, then the plans."""
    heading = ("case", "goal", "predicted", "measured", "a batch")
    rows = [
        (
            each["case"],
            each["goal"],
            f"{each['predicted']:.2f} x",
            f"{each['measured']:.2f} x",
            f"{each['batch_seconds']:.2f} s",
        )
        for each in made["cases"]
    ]
    plans = [f"{e['case']}: {e['chosen']}  instead of  {e['steady']}" for e in made["cases"]]
    first = "how many times as soon (first), or as many results (by), as the steady plan, on Spark"
    better = f"{made['better_where_1_5x']} of {made['predicted_1_5x']}"
    return "\n".join(
        [
            f"{first}; median of {made['repeat']}",
            "",
            *table(heading, rows),
            "",
            *plans,
            f"where 1.5 x is predicted, the chosen plan was better in {better}",
        ]
    ) + "\n"  # fmt: skip
