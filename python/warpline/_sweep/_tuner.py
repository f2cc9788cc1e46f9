"""The hook for ``triton.autotune(prune_configs_by=…)``."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional

from .. import _runtime
from .._errors import WarplineError
from . import _decisions
from ._figures import WORTH


def pruning(kernel: Any, gpu: Optional[str], slack: float, workers: Optional[int]) -> Callable[..., list[Any]]:
    """Returns a function with the signature that Triton documents for ``early_config_prune``."""

    def early_config_prune(configs: list[Any], named_args: dict[str, Any], **kwargs: Any) -> list[Any]:
        from ._launches import measure

        if _runtime.under_run():
            # Otherwise, the profile would contain the launches of the sweep.
            return list(configs)
        launch = dict(kwargs)
        grid = launch.pop("grid", None)
        launch.pop("warmup", None)
        tuned = kernel if kernel is not None else _tuned(early_config_prune)
        _, rows = measure(tuned, configs, {**named_args, **launch}, grid, gpu, workers)
        _decisions.decide(rows, slack)
        kept = [config for config, row in zip(configs, rows) if row["decision"] == WORTH]
        # Triton needs at least one configuration. If all exceed a limit, Triton's own message names the limit.
        return kept or list(configs)

    return early_config_prune


def _tuned(hook: Callable[..., Any]) -> Any:
    """Returns the kernel of the tuner that calls the hook, because Triton passes the arguments of the launch but not
    the kernel."""
    frame = sys._getframe(1)
    while frame is not None:
        tuner = frame.f_locals.get("self")
        if getattr(tuner, "early_config_prune", None) is hook:
            return tuner
        frame = frame.f_back
    raise WarplineError("warpline.prune: no tuner calls this function: pass the kernel, warpline.prune(kernel)")
