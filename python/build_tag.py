"""The wheel contains programs for one platform, and works with every Python 3."""

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PlatformTag(BuildHookInterface):
    """Sets the wheel's tag."""

    def initialize(self, version, build_data):
        """Debian 12's C library is the oldest one with which the binaries run."""
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-manylinux_2_36_x86_64"
