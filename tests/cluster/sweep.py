"""The program that is killed: `sweep.py STORE OUTPUT SCHEDULER FOLDER` simulates the traces of a folder and merges what comes out."""

import sys
from pathlib import Path

import warpline.cluster as cluster

MODELS = ["a100", "v100", "h100"]


def sweep(store, output, scheduler, folder):
    """All of it; with ``-`` on processes of this machine."""
    common = {"store": store, "client": None if scheduler == "-" else scheduler, "workers": 2}
    traces = sorted(map(str, Path(folder).glob("*.wltrace")))
    found = cluster.simulate(traces, MODELS, **common)
    assert not found.failed, found.failed
    for model in MODELS:
        profiles = [one.path for one in found if one.settings["model"] == model]
        cluster.merge(profiles, Path(output, f"{model}.wlprof"), fan_in=2, **common)


if __name__ == "__main__":
    sweep(*sys.argv[1:])
