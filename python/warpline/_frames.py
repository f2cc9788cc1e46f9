"""Python's own frames: the call path to a launch, and the variables that hold the arguments of a kernel."""

import os
import sys
import sysconfig

#: The maximum number of frames in a path, innermost first.
_DEPTH = 64
#: The separator between the fields of a frame, as the runtime expects it.
_FIELD = "\x1f"

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_hidden = [_HERE]
#: Frames in which a script, a Jupyter cell or a test starts.
_STARTERS = (
    os.sep + "ipykernel_launcher.py",
    os.path.join(os.sep, "pytest", "__main__.py"),
    *(os.path.join(os.sep, name, "") for name in ("IPython", "ipykernel", "traitlets", "tornado", "_pytest", "pluggy")),
)
#: The folder of the standard library, in which threads, pools, tests and modules start; packages may be below it.
_STANDARD = tuple({os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "platstdlib")})
_PACKAGES = tuple(os.path.join(os.sep, name, "") for name in ("site-packages", "dist-packages"))


def hide(folder):
    """Excludes the frames of files in this folder from paths."""
    folder = os.path.abspath(folder) + os.sep
    if folder not in _hidden:
        _hidden.append(folder)


def hide_file(file):
    """Excludes the frames of this file from paths."""
    _hidden.append(os.path.abspath(file))


def is_users(frame):
    """Returns whether a frame belongs to the user's code."""
    file = frame.f_code.co_filename
    if file == "<string>" and "__name__" not in frame.f_globals:
        # Triton binds arguments in a function that it generates for each kernel, and that belongs to no module.
        return False
    if file.startswith("<frozen ") or file.startswith(tuple(_hidden)) or any(starter in file for starter in _STARTERS):
        return False
    return not file.startswith(_STANDARD) or any(folder in file for folder in _PACKAGES)


def users():
    """Returns the frames of the user's code that led to this call, innermost first."""
    found, frame = [], sys._getframe(1)
    while frame is not None and len(found) < _DEPTH:
        if is_users(frame):
            found.append(frame)
        frame = frame.f_back
    return found


def path(frames):
    """Returns the frames as text for the runtime."""
    lines = []
    for frame in frames:
        code = frame.f_code
        function = getattr(code, "co_qualname", code.co_name)
        lines.append(f"{function}{_FIELD}{os.path.abspath(code.co_filename)}{_FIELD}{frame.f_lineno}")
    return "\n".join(lines).encode(errors="replace")


def names(frames, same):
    """Returns the name of the first variable, from the innermost frame outwards, for which ``same(value)`` is true: a
    local variable, a variable of the module, or an attribute of ``self``. Returns ``None`` if there is none."""
    for frame in frames:
        for variables in (frame.f_locals, frame.f_globals):
            for name, value in list(variables.items()):
                if not name.startswith("__") and same(value):
                    return name
        owner = frame.f_locals.get("self")
        if owner is not None:
            parts = list(getattr(owner, "__dict__", {}).items())
            # PyTorch's modules store their tensors separately.
            for kept in ("_parameters", "_buffers"):
                parts += list((getattr(owner, "__dict__", {}).get(kept) or {}).items())
            for name, value in parts:
                if same(value):
                    return f"self.{name}"
    return None
