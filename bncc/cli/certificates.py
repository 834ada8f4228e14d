"""Certificates of proofs: asked for, checked by the independent checker, and written."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from bncc.cli.output import check_free, write_file
from bncc.errors import OptionError
from bncc.model.file import RULES_IN_WORDS
from bncc.model.model import Model
from bncc.prove.certificate import Trace, certificate, reached, to_bytes
from bncc.prove.code import Code
from bncc.prove.specification import OF_READINGS
from bncc.prove.values import UndecidedError
from bncc.prove.verdict import Verdict


class Certificates:
    """The certificate of one proof, and its program if it was built."""

    def __init__(self, path: str, model_path: str, elf: str | None, *, force: bool) -> None:
        self.path, self._model_path, self._force = path, model_path, force
        self.elf = elf or f"{path}.elf"
        self._is_built = elf is None
        self.trace = Trace()
        check_free(path, force=force, sources=[model_path, elf])
        if self._is_built:
            check_free(self.elf, force=force, sources=[model_path])

    def write(
        self, model: Model, code: Code, verdict: Verdict, symbol: str, score_size: int
    ) -> bool:
        """Write the certificate of a proof that the checker confirms; return whether it is one."""
        if verdict.status != "proved":
            return False
        if what := _uncovered(model, verdict.entry):
            raise OptionError(
                f"{verdict.target}: {verdict.entry} is proved, but no certificate covers a model "
                f"with {what} yet; leave out -o"
            )
        from bncc.checker.check import MOST_WORK, Check  # only here: it loads the decoder
        from bncc.checker.values import RejectedError

        try:
            content = Path(self._model_path).read_bytes()
            document = certificate(self.trace, model, verdict, symbol, score_size)
            document |= {"model": sha256(content).hexdigest(), "work": MOST_WORK}
            check = Check(document, code.content, content)
            document["work"] = check.run()
            states = reached(document["states"], check.unused)
            if states != document["states"]:
                document |= {"work": MOST_WORK, "states": states}
                document["work"] = Check(document, code.content, content).run()
        except (RejectedError, UndecidedError) as reason:
            raise OptionError(
                f"{verdict.target}: {verdict.entry} is proved, but the checker does not cover this "
                f"proof ({reason}); choose another --kernel or --optimize, or leave out -o"
            ) from None
        if self._is_built:
            write_file(self.elf, code.content, force=self._force)
        write_file(self.path, to_bytes(document), force=self._force)
        return True


def _uncovered(model: Model, entry: str) -> str | None:
    """Return the part of a model that the checker does not read, None if it reads all."""
    parts = {
        "readings that are subtracted": model.has_differences and entry in OF_READINGS,
        "a front end": model.front_end is not None,
        **{words: getattr(model, name) is not None for name, words in RULES_IN_WORDS.items()},
    }
    return next((words for words, is_there in parts.items() if is_there), None)


def asked(
    path: str | None,
    model_path: str,
    elf: str | None,
    *,
    targets: Sequence[str],
    n_entries: int,
    is_whole: bool,
    force: bool,
) -> Certificates | None:
    """Return the certificate that ``-o`` asks for; refuse one of several proofs."""
    if path is None:
        return None
    if len(targets) != 1 or "all" in targets or n_entries != 1:
        raise OptionError("-o writes the certificate of one proof; name one --target and --entry")
    from bncc.checker.check import TARGETS  # only here: it loads the decoder

    if targets[0] not in TARGETS:
        raise OptionError(
            f"no certificate covers {targets[0]} yet; leave out -o, or use --target "
            f"{' or '.join(sorted(TARGETS))}"
        )
    if not is_whole:
        raise OptionError(
            "-o needs all inputs of the model, which its checker reads; leave out --inputs used"
        )
    return Certificates(path, model_path, elf, force=force)
