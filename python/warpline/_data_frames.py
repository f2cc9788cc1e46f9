"""Data frames of rows, by pandas or by polars, with the types that the columns are declared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import WarplineError

if TYPE_CHECKING:
    import pandas
    import polars


def pandas_module() -> Any:
    """pandas, which this package does not need otherwise."""
    try:
        import pandas
    except ImportError as missing:
        raise WarplineError("data frames need pandas: pip install pandas") from missing
    return pandas


def of_pandas(rows: list[dict[str, Any]], columns: dict[str, type]) -> pandas.DataFrame:
    """Whole numbers are ``Int64``, which may be missing; texts and sizes are objects."""
    types = {int: "Int64", float: "float64", bool: "bool"}
    frame = pandas_module().DataFrame(rows, columns=list(columns))
    return frame.astype({name: types[kind] for name, kind in columns.items() if kind in types})


def of_polars(rows: list[dict[str, Any]], columns: dict[str, type]) -> polars.DataFrame:
    """Sizes are lists of three."""
    try:
        import polars
    except ImportError as missing:
        raise WarplineError("data frames of polars need polars: pip install polars") from missing
    types = {int: polars.Int64, float: polars.Float64, bool: polars.Boolean, str: polars.String, tuple: polars.List(polars.Int64)}
    schema = {name: types[kind] for name, kind in columns.items()}
    # By columns: from rows it takes eight times as long.
    return polars.DataFrame({name: [row[name] for row in rows] for name in columns}, schema=schema)
