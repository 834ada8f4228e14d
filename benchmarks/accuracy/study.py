"""
All families over the papers' data sets: one study each, and one report of all studies.

    python -m benchmarks.accuracy.study --data ../shared/data -o study --jobs 2

takes about 75 minutes on two cores; after an interruption the same command resumes. Trials have
one seed each, and are measured on a Cortex-M0 and a Cortex-M4.
"""

import subprocess
import sys
from pathlib import Path

import click

SPACE = Path(__file__).with_name("study.toml")
SETS = {"letter": 180, "satimage": 180, "usps": 160, "mnist14": 64}
"""Trials by data set: a third have no C, and at least 100 must be measured (mnist14: 40)."""
BASELINES = {
    "letter": "tree,forest,boosting,linear,svm,gaussian-nb,categorical-nb,dnn",
    "satimage": "tree,forest,boosting,linear,svm,gaussian-nb,categorical-nb,dnn",
    "usps": "tree,forest,boosting,linear,svm,gaussian-nb,categorical-nb,dnn,cnn",
    "mnist14": "tree,forest,linear,gaussian-nb,categorical-nb,dnn,cnn",
}
"""Convolutions are for images alone. A support vector machine and boosting take many minutes on
the 46,669 rows of mnist14."""


@click.command()
@click.option("--data", default="../shared/data", help="Folder with `paper/letter.npz` etc.")
@click.option("-o", "--output", default="study", help="Folder for studies and the report.")
@click.option("--jobs", default=2, help="Processes.")
@click.option("--only", multiple=True, type=click.Choice(list(SETS)), help="Data set; repeatable.")
@click.option("--trials", type=int, help="Number of trials per set, in place of the study's own.")
def main(data: str, output: str, jobs: int, only: tuple[str, ...], trials: int | None) -> None:
    """Sweep each set, and write one report."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    studies = []
    for name in only or SETS:
        studies.append(str(folder / f"{name}.db"))
        run(
            "sweep", f"{data}/paper/{name}.npz", "--fold", "1", "--study", studies[-1],
            "--space", str(SPACE), "--baselines", BASELINES[name],
            "--trials", str(trials or SETS[name]), "--repeats", "1", "--jobs", str(jobs),
            "--target", "cortex-m4", "--target", "cortex-m0",
        )  # fmt: skip
    run("report", *studies, "-o", str(folder / "report.html"), "--force")


def run(*words: str) -> None:
    """Run a command of bncc, and exit if it fails."""
    done = subprocess.run((sys.executable, "-m", "bncc", *words), check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
