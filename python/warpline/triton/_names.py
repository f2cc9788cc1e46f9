"""The name of a kernel in profiles: its function, and the properties for which it was specialised."""

#: For each function and its declared constants, the other properties for which the first kernel with this name was
#: specialised.
_first: dict = {}


def shown(source, metadata, names):
    """Returns the kernel's name with its constants in the signature, and the warps of a block if there are not four.
    Triton may create several kernels with this name, for arguments of other types, or whose sizes are multiples of
    16 or equal to 1. Later kernels are distinguished by their differences from the first."""
    function = getattr(source, "fn", None)
    name = getattr(function, "__name__", None) or metadata.name
    declared = {parameter.name for parameter in getattr(function, "params", []) if parameter.is_constexpr}
    constants = []
    for path, value in getattr(source, "constants", {}).items():
        at = path if isinstance(path, str) else names[path[0]] if len(path) == 1 else None
        if at in declared:
            value = getattr(value, "value", value)
            constants.append(f"{at}={getattr(value, '__name__', None) or value}")
    if metadata.num_warps != 4:
        constants.append(f"num_warps={metadata.num_warps}")
    own = _traits(source, metadata, names, declared)
    first = _first.setdefault((getattr(function, "__module__", ""), name, *constants), own)
    constants += [text for key, text in own.items() if first.get(key) != text]
    return f"{name}[{', '.join(constants)}]" if constants else name


def _traits(source, metadata, names, declared):
    """Returns the other properties for which a kernel is specialised: types of parameters, multiples of 16 (`n%16`,
    otherwise `n%1`), values that have become constants, stages of pipelines."""
    constants, attributes = getattr(source, "constants", {}), getattr(source, "attrs", None) or {}
    found = {}
    for index, (name, ty) in enumerate(source.signature.items()):
        if name in declared:
            continue
        name = names[index] if index < len(names) else name
        if (index,) in constants:
            found[name, "type"] = f"{name}={constants[index,]}"
            continue
        found[name, "type"] = f"{name}:{ty}"
        even = any(one[:2] == ["tt.divisibility", 16] for one in map(list, attributes.get((index,), [])))
        found[name, "multiple"] = f"{name}%{16 if even else 1}"
    stages = getattr(metadata, "num_stages", None)
    if stages is not None:
        found["num_stages", "value"] = f"num_stages={stages}"
    return found
