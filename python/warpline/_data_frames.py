"""Creates data frames from columns with pandas or polars, with the declared types of the columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import WarplineError

if TYPE_CHECKING:
    import pandas
    import polars


def pandas_module() -> Any:
    """Returns pandas, which this package does not need for anything else."""
    try:
        import pandas
    except ImportError as missing:
        raise WarplineError("data frames need pandas: pip install pandas") from missing
    return pandas


def of_pandas(cells: dict[str, list[Any]], columns: dict[str, type]) -> pandas.DataFrame:
    """Creates a pandas data frame. Integers are ``Int64``, which may be missing; texts and sizes are objects."""
    pandas = pandas_module()
    types = {int: "Int64", float: "float64", bool: "bool", str: "object", tuple: "object"}
    return pandas.DataFrame({name: pandas.Series(cells[name], dtype=types[kind]) for name, kind in columns.items()})


def of_polars(cells: dict[str, list[Any]], columns: dict[str, type]) -> polars.DataFrame:
    """Creates a polars data frame. Sizes are lists of three numbers."""
    try:
        import polars
    except ImportError as missing:
        raise WarplineError("data frames of polars need polars: pip install polars") from missing
    types = {int: polars.Int64, float: polars.Float64, bool: polars.Boolean, str: polars.String, tuple: polars.List(polars.Int64)}
    schema = {name: types[kind] for name, kind in columns.items()}
    return polars.DataFrame(cells, schema=schema)
