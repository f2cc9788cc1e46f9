"""What Triton compiles for."""

import functools
import os
import sys

from .. import _runtime

#: As 90 for ``sm_90``: the architecture that kernels are compiled for in place of the modelled GPU's.
ARCHITECTURE_VARIABLE = "WARPLINE_TRITON_ARCH"

#: From here on matrix products are made of instructions that the CPU device does not run (wgmma, tcgen05).
_FIRST_UNSUPPORTED = 90
#: What is compiled for instead.
_INSTEAD = 80

#: ``CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`` and its minor one.
_MAJOR, _MINOR = 75, 76


@functools.lru_cache(maxsize=1)
def architecture() -> int:
    """The architecture that kernels are compiled for, as 80 for ``sm_80``: the modelled GPU's, but 80 from Hopper on, whose own
    instructions for matrix products are not run; the environment variable ``WARPLINE_TRITON_ARCH`` overrides both."""
    requested = os.environ.get(ARCHITECTURE_VARIABLE)
    if requested:
        return int(requested)
    own = 10 * _runtime.device_attribute(_MAJOR) + _runtime.device_attribute(_MINOR)
    if own < _FIRST_UNSUPPORTED:
        return own
    print(
        f"warpline: note: kernels are compiled for sm_{_INSTEAD} and modelled on a GPU of sm_{own}, whose own matrix instructions are "
        f"not run; {ARCHITECTURE_VARIABLE}={own} compiles for it",
        file=sys.stderr,
    )
    return _INSTEAD
