// Differences between ranks: the rows of the text report, with figures as numbers.

function hasRanks() {
  return Boolean(side().ranks);
}

function ranksTable(title, rows, open) {
  if (rows.length === 0) return null;
  const { present } = side().ranks;
  const value = (key, label, help) => ({ key: `ranks.${key}`, label, unit: "count", help, value: (row) => row[key], cell: (row, shown) => figure(`ranks.${key}`, shown, row.unit) });
  return panel(title, null, dataTable({
    id: `ranks ${title}`,
    label: title,
    rows,
    open,
    columns: [
      { key: "name", label: title, value: (row) => row.name },
      { key: "figure", label: "Figure", value: (row) => row.figure, plain: true },
      { key: "ranks", label: "Ranks", value: (row) => `${count(row.ranks)} of ${count(present)}`, plain: true },
      value("min", "Least"),
      { key: "min_rank", label: "by rank", unit: "count", value: (row) => row.min_rank },
      value("mean", "Mean"),
      value("max", "Greatest"),
      { key: "max_rank", label: "by rank", unit: "count", value: (row) => row.max_rank },
      value("stddev", "Std. dev."),
      { key: "factor", label: "Max/mean", unit: "mean", value: (row) => row.factor },
    ],
  }));
}

function ranksView() {
  const { present, kernels, paths, lines, allocations } = side().ranks;
  const toKernel = (row) => `kernel/${row.kernel}`;
  const tables = [
    ranksTable("Kernels", kernels, toKernel),
    ranksTable("Call paths", paths, toKernel),
    ranksTable("Lines", lines, (row) => (row.file && profile().sources[row.file] ? sourceRoute(row.file, row.line) : toKernel(row))),
    ranksTable("Names of allocations", allocations),
  ].filter(Boolean);
  return [
    heading("Ranks", `Where the work of ${plural(present, "rank")} differs; each figure is over the ranks that have the place. Of equal ranks the lowest is named.`),
    tables.length > 0 ? tables : nothing("All ranks did the same work."),
  ];
}
