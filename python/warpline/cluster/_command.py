"""``python -m warpline cluster merge|sim|predict|diff|export``."""

import argparse
import logging
import os
import sys

from .._errors import WarplineError
from ._call import DEFAULT_STORE
from ._diff import diff
from ._errors import Damaged, Misused, NoDask
from ._export import export
from ._merge import FAN_IN, merge
from ._predict import predict
from ._simulate import simulate

#: The exit codes of ``warpline`` (``src/exit_code.rs``).
_OK, _UNEXPECTED, _USAGE, _UNREADABLE, _THRESHOLD, _TOOLCHAIN, _PARTIAL = 0, 1, 2, 3, 5, 6, 7
_CODES = [(Damaged, _UNREADABLE), (Misused, _USAGE), (NoDask, _TOOLCHAIN)]
#: The maximum number of inputs without a result that are named; the index contains all.
_NAMED = 20


def main(arguments):
    """Runs the command line; returns the exit code."""
    parsed = _parser().parse_args(arguments)
    _log(parsed.quiet)
    common = {"store": parsed.store, "client": parsed.scheduler, "workers": parsed.workers, "progress": False if parsed.quiet else None}
    try:
        return parsed.call(parsed, _inputs(parsed), common)
    except WarplineError as error:
        return _say(error, next((code for kind, code in _CODES if isinstance(error, kind)), _UNEXPECTED))
    except KeyboardInterrupt:
        return _say("interrupted; the same command goes on from what is finished", 130)


def _log(quiet):
    """Sends this package's messages to standard error; Dask's own messages about lost workers are not shown."""
    os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("warpline: %(message)s"))
    log = logging.getLogger("warpline.cluster")
    log.addHandler(handler)
    log.propagate = False
    log.setLevel(logging.WARNING if quiet else logging.INFO)


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m warpline cluster",
        description="Many profiles and traces at once, with Dask. Results are kept in a store; a command that was cut off is repeated "
        "and goes on from what is finished.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, text, call, inputs):
        one = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        one.set_defaults(call=call)
        one.add_argument("inputs", nargs="*", metavar=inputs, help=f"{inputs.lower()}s")
        one.add_argument("--files-from", metavar="FILE", help="further ones, a line each; - is standard input")
        one.add_argument("--scheduler", metavar="ADDRESS|FILE", help="Dask's scheduler [default: processes on this machine]")
        one.add_argument("--workers", type=_count, metavar="N", help="processes on this machine [default: one for each core]")
        one.add_argument("--store", default=DEFAULT_STORE, metavar="DIR", help="folder of results [default: %(default)s]")
        one.add_argument("--quiet", action="store_true", help="neither progress nor the dashboard's address")
        return one

    one = command("merge", "merge profiles of one program, as a tree", _merge, "PROFILE")
    one.add_argument("-o", "--output", required=True, metavar="FILE", help="where the profile goes")
    one.add_argument("--fan-in", type=_count, default=FAN_IN, metavar="N", help="profiles of a node [default: %(default)s]")

    one = command("sim", "analyse kept traces on models and with options", _simulate, "TRACE")
    one.add_argument("--gpu", required=True, metavar="MODEL[,MODEL...]", help="GPU models, see `warpline gpus`")
    _options(one, "warpline sim", "--l2-copies cold")

    one = command("predict", "predict launches over kernels, sizes and models", _predict, "PROFILE")
    one.add_argument("--kernel", action="append", metavar="REGEX", help="a kernel; may be given several times")
    one.add_argument("--gpu", metavar="MODEL[,MODEL...]", help="GPU models [default: a profile's first]")
    one.add_argument("--set", action="append", default=[], metavar="NAME=VALUE[,VALUE...]", help="values of a parameter; all combinations are taken")
    one.add_argument("--format", choices=["json", "csv", "text"], default="json")
    _options(one, "warpline predict", "--block 32x8,64x4")

    one = command("diff", "compare profiles of a history, each with the one before it", _diff, "PROFILE")
    one.add_argument("--history", metavar="STORE", help="compare what `warpline record` kept there, in the order of `warpline history`")
    one.add_argument("--name", help="of a history: recordings of this name alone")
    one.add_argument("--branch", help="of a history: recordings of this branch alone")
    one.add_argument("--baseline", metavar="PROFILE|COMMIT", help="compare each with this one")
    one.add_argument("--limits", metavar="FILE", help="limits of what may get worse; exit code 5 where one is broken")
    one.add_argument("--format", choices=["json", "text", "markdown", "html"], default="json")
    _options(one, "warpline diff", "--strict")

    one = command("export", "put profiles into a dataset in Parquet", _export, "PROFILE")
    one.add_argument("-o", "--output", required=True, metavar="DIR", help="the dataset: a new folder, or one to add to")
    one.add_argument("--label", action="append", default=[], metavar="NAME=VALUE", help="a fact to keep with the profiles")
    return parser


def _options(parser, program, example):
    text = f"further options of {program}, in one word, as --options='{example}'; each time it is given is a configuration"
    parser.add_argument("--options", action="append", metavar="TEXT", help=text)
    parser.add_argument("-o", "--output", metavar="DIR", help="folder that results are copied to [default: the store alone has them]")


def _count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it takes a number from 1 on")
    return number


def _inputs(parsed):
    """Returns the files that were named."""
    inputs = list(parsed.inputs)
    if parsed.files_from:
        try:
            with open(0 if parsed.files_from == "-" else parsed.files_from, "rb") as file:
                inputs += [os.fsdecode(line) for line in file.read().splitlines() if line]
        except OSError as error:
            raise Misused(f"{parsed.files_from}: cannot be read: {error.strerror}") from error
    return inputs


def _merge(parsed, inputs, common):
    found = merge(inputs, parsed.output, fan_in=parsed.fan_in, **common)
    for note in found.notes:
        _say(f"note: {note}")
    _failures(found.failed)
    tasks = f"{found.tasks} tasks, {found.tasks_reused} from the store"
    _say(f"wrote {_shown(parsed.output)}: {found.profiles} profiles, {tasks}")
    _say(f"next: warpline report {_shown(parsed.output)}")
    return _PARTIAL if found.failed else _OK


def _simulate(parsed, inputs, common):
    return _report(parsed, simulate(inputs, parsed.gpu, parsed.options, output=parsed.output, **common))


def _predict(parsed, inputs, common):
    settings = {}
    for one in parsed.set:
        name, is_, values = one.partition("=")
        if not (name and is_ and values):
            return _say(f"--set {one}: it takes NAME=VALUE or NAME=VALUE,VALUE", _USAGE)
        settings.setdefault(name, []).extend(values.split(","))
    found = predict(inputs, parsed.kernel, parsed.gpu, settings or None, parsed.options, format=parsed.format, output=parsed.output, **common)
    return _report(parsed, found)


def _diff(parsed, inputs, common):
    found = diff(
        inputs,
        parsed.baseline,
        history=parsed.history,
        name=parsed.name,
        branch=parsed.branch,
        format=parsed.format,
        limits=parsed.limits,
        options=parsed.options,
        output=parsed.output,
        **common,
    )
    broken = [one for one in found if one.path and one.exit_code == _THRESHOLD]
    for one in broken:
        _say(f"{_shown(one.settings['before'])} to {_shown(one.input)}: limits are broken")
    code = _report(parsed, found)
    return _THRESHOLD if broken and code == _OK else code


def _export(parsed, inputs, common):
    labels = {}
    for one in parsed.label:
        name, is_, value = one.partition("=")
        if not (name and is_):
            return _say(f"--label {one}: it takes NAME=VALUE", _USAGE)
        labels[name] = value
    code = _report(parsed, export(inputs, parsed.output, labels=labels, **common))
    if code in (_OK, _PARTIAL):
        _say(f"next: warpline query {_shown(parsed.output)} --views")
    return code


def _report(parsed, results):
    """Prints the results, one line each, on standard output if results have no folder."""
    failed = results.failed
    for one in results:
        settings = [f"{name}={value}" for name, value in one.settings.items() if value not in (None, "")]
        if one.path and parsed.output is None:
            print("\t".join([_shown(one.path), _shown(one.input), *map(_shown, settings)]))
        for note in one.notes:
            _say(f"note: {_shown(one.input)}: {note}")
    _failures(failed)
    made = len(results) - len(failed)
    reused = sum(one.reused for one in results)
    _say(f"{made} of {len(results)} results, {reused} from the store" + (f", in {_shown(parsed.output)}" if parsed.output else ""))
    if failed and not made:
        return failed[0].exit_code if failed[0].exit_code > 0 else _UNEXPECTED
    return _PARTIAL if failed else _OK


def _failures(failed):
    for one in failed[:_NAMED]:
        settings = [f"{name}={value}" for name, value in one.settings.items() if value not in (None, "")]
        with_ = f" ({', '.join(settings)})" if settings else ""
        _say(f"left out: {one.input}{with_}: {one.error}")
    if len(failed) > _NAMED:
        _say(f"and {len(failed) - _NAMED} more")


def _say(text, code=_OK):
    print(f"warpline: {_shown(text)}", file=sys.stderr)
    return code


def _shown(text):
    """Returns text that is safe for a terminal, because names of files may contain any character."""
    return "".join(one if one.isprintable() or one == "\n" else f"\\x{ord(one):02x}" for one in str(text))
