"""The target for which Triton compiles."""

import functools
import os
import sys

from .. import _runtime

#: The architecture for which kernels are compiled instead of that of the modelled GPU; 90 means ``sm_90``.
ARCHITECTURE_VARIABLE = "WARPLINE_TRITON_ARCH"

#: From this architecture on, matrix products use instructions that the CPU device does not support (wgmma, tcgen05).
_FIRST_UNSUPPORTED = 90
#: The architecture that is used instead.
_INSTEAD = 80

#: ``CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`` and the attribute for the minor version.
_MAJOR, _MINOR = 75, 76


@functools.lru_cache(maxsize=1)
def architecture() -> int:
    """Returns the architecture for which kernels are compiled; 80 means ``sm_80``. It is that of the modelled GPU, or
    80 from Hopper on, because Hopper's instructions for matrix products are not supported. The environment variable
    ``WARPLINE_TRITON_ARCH`` overrides both."""
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
