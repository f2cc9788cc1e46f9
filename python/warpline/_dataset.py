"""Opens datasets that ``warpline export`` wrote in DuckDB. They are read-only for any SQL."""

import contextlib
import json
import tempfile
from pathlib import Path

from ._errors import WarplineError
from ._views import VIEWS

#: The supported version of datasets.
VERSION = 1
_MANIFEST = "dataset.json"
#: The DuckDB types for the types of ``dataset.json``.
_TYPES = {"integer": "BIGINT", "float": "DOUBLE", "boolean": "BOOLEAN", "text": "VARCHAR"}
#: Characters that DuckDB always treats as a pattern in a file name.
_PATTERNS = "*?[]{}"


class Dataset:
    """A dataset. ``tables`` and ``views`` map names to descriptions; :meth:`sql` runs a query::

        with warpline.dataset("runs") as d:
            d.sql("SELECT * FROM hot_lines LIMIT 10").df()

    ``connection`` is DuckDB's, locked: it reads the dataset's folder and nothing else."""

    def __init__(self, path):
        self.path = Path(path)
        self.manifest = _manifest(self.path)
        self.tables = {table["name"]: table for table in self.manifest["tables"]}
        self._spill = tempfile.TemporaryDirectory(prefix="warpline-query-")
        try:
            self.connection = _open(self.path.resolve(), self.manifest, self._spill.name)
            self.views = {view.name: view for view in VIEWS if _can(self.connection, view)}
        except BaseException:
            self._spill.cleanup()
            raise

    def sql(self, query):
        """Returns the answer to one ``SELECT``, as a DuckDB relation (``df()``, ``pl()``, ``fetchall()``, …). The name
        of a table or view stands for all of its rows."""
        with _told():
            return self.connection.sql(self._select(query))

    def batches(self, query, rows=4096):
        """Returns the names of an answer's columns, and an iterator over its rows in lists of the given size, none of
        which is kept."""
        with _told():
            cursor = self.connection.execute(self._select(query))
            names = [column[0] for column in cursor.description]

        def each():
            with _told():
                while batch := cursor.fetchmany(rows):
                    yield batch

        return names, each()

    def _select(self, query):
        """Returns a query if it only reads, and raises an error otherwise."""
        import duckdb

        if query.strip() in self.tables or query.strip() in self.views:
            query = f"SELECT * FROM {_quoted(query.strip())}"
        statements = self.connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise WarplineError("a dataset takes one SELECT statement: it is opened to be read only")
        return query

    def close(self):
        """Ends the connection."""
        self.connection.close()
        self._spill.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def dataset(path):
    """Opens a dataset, the folder that ``warpline export`` wrote; needs ``duckdb``."""
    return Dataset(path)


@contextlib.contextmanager
def _told():
    """Converts DuckDB's errors to errors of this package."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        raise WarplineError(str(error).strip()) from error


def _manifest(path):
    file = path / _MANIFEST
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        cure = "name the folder that `warpline export` wrote"
        raise WarplineError(f"{file}: cannot read: {error.strerror}; {cure}") from error
    try:
        manifest = json.loads(text)
        if manifest["schema"] != "warpline.dataset":
            raise ValueError("it names another schema")
        version = int(manifest["version"])
        for column in manifest["partitions"] + [one for table in manifest["tables"] for one in table["columns"]]:
            _TYPES[column["type"]], str(column["name"])
        if any("/" in table["name"] or table["name"].startswith(".") for table in manifest["tables"]):
            raise ValueError("a table has the name of a folder elsewhere")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WarplineError(f"{file}: this is not the description of a dataset ({error}); export anew") from error
    if version != VERSION:
        raise WarplineError(f"{file}: the dataset has version {version}, and this package reads {VERSION}; export anew")
    return manifest


def _open(path, manifest, spill):
    try:
        import duckdb
    except ImportError as error:
        raise WarplineError("queries need DuckDB: pip install duckdb (or warpline[query])") from error
    if any(character in str(path) for character in _PATTERNS):
        raise WarplineError(f"{path}: DuckDB takes one of {_PATTERNS} in a path for a pattern; rename the folder")
    connection = duckdb.connect(":memory:")
    folders = manifest["partitions"]
    connection.execute(f"SET allowed_directories = [{_text(str(path) + '/')}]")
    connection.execute(f"SET temp_directory = {_text(spill)}")
    for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "enable_external_access"):
        connection.execute(f"SET {setting} = false")
    connection.execute("SET lock_configuration = true")
    types = ", ".join(f"{_text(one['name'])}: {_TYPES[one['type']]}" for one in folders)
    for table in manifest["tables"]:
        name = table["name"]
        if any((path / name).rglob("*.parquet")):
            files = _text(f"{path}/{name}/**/*.parquet")
            source = f"SELECT * FROM read_parquet({files}, hive_partitioning = true, hive_types = {{{types}}}, union_by_name = true)"
        else:
            columns = [*table["columns"], *folders]
            nothing = ", ".join(f"CAST(NULL AS {_TYPES[one['type']]}) AS {_quoted(one['name'])}" for one in columns)
            source = f"SELECT {nothing} WHERE false"
        try:
            connection.execute(f"CREATE VIEW {_quoted(name)} AS {source}")
        except duckdb.Error as error:
            raise WarplineError(f"{path / name}: {str(error).strip()}; take the damaged file out, or export anew") from error
    return connection


def _can(connection, view):
    """Creates a view; returns false if tables of an older release do not contain its columns."""
    import duckdb

    try:
        connection.execute(f"CREATE VIEW {_quoted(view.name)} AS {view.sql}")
    except (duckdb.BinderException, duckdb.CatalogException):
        return False
    return True


def _text(value):
    return "'" + value.replace("'", "''") + "'"


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'
