// Describes how the profile was created and the assumptions of its figures.

function pairs(list) {
  return h("dl", { class: "pairs wide-pairs" }, list.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

/** An estimated sum with its bound. */
function estimated(one, unit) {
  if (!one) return "–";
  const bound = one.bound === null || one.bound === undefined ? " ±?" : one.bound > 0 ? ` ±${inUnit(one.bound, unit)}` : "";
  return `${inUnit(one.estimate, unit)}${bound}`;
}

/** What all launches did, where a budget recorded some of them. */
function wholeRunPanel() {
  const { run, kernels, lines } = profile();
  if (!run.whole_run) return null;
  const label = (id) => side().kernelLabel(id);
  const of = (name, totals, link) => ({ name, link, totals });
  const inBytes = (one) => one && { estimate: 32 * one.estimate, bound: one.bound === null || one.bound === undefined ? null : 32 * one.bound };
  const rows = [
    of("all", run.whole_run.totals, null),
    ...kernels.filter((kernel) => kernel.whole_run).map((kernel) => of(label(kernel.id), kernel.whole_run.totals, `kernel/${kernel.id}`)),
    ...lines.filter((line) => line.whole_run).map((line) => of(`${place(line.file, line.line)} in ${label(line.kernel)}`, line.whole_run, null)),
  ];
  const column = (key, title, unit, figure) => ({ key, label: title, unit, value: (row) => figure(row.totals)?.estimate ?? 0, cell: (row) => estimated(figure(row.totals), unit) });
  return panel("Whole run, estimated", { note: `From ${count(run.whole_run.recorded_launches)} of ${count(run.whole_run.launches)} launches; each bound holds in ${Math.round(100 * run.whole_run.confidence)} of 100 draws of launches.` }, dataTable({
    id: "whole-run", label: "Whole run, estimated", rows, sort: { key: "traffic", down: true }, none: "Nothing.",
    columns: [
      { key: "name", label: "Of", plain: true, value: (row) => row.name },
      column("requests", "Requests", "count", (totals) => totals["global.requests"]),
      column("traffic", "Traffic", "bytes", (totals) => inBytes(totals["global.sectors"])),
      column("passes", "Passes of shared memory", "count", (totals) => totals["shared.wavefronts"]),
    ],
  }));
}

function aboutView() {
  const { run, not_seen: notSeen, host_allocations: hosts } = profile();
  const { environment } = run;
  return [
    heading("About this profile", "How it was made, and what its figures rest on."),
    cautions(),
    h("div", { class: "grid-2" },
      panel("Run", {}, pairs([
        ["Program", run.program.join(" ")],
        ["Device", run.device === "gpu" ? "a GPU" : "the CPU device, without a GPU"],
        ["GPU models", run.models.join(", ")],
        ["Architectures", (run.architectures ?? []).map((one) => `sm_${one}`).join(", ")],
        ["Complete", run.complete ? "yes" : "no"],
        ["Sampled", run.sampled ? "yes" : "no"],
        ["Mode", run.mode],
        ["Exit code", run.exit_code === null ? "not known" : String(run.exit_code)],
        ["Race check", run.race_check ?? "none"],
        ["Leak check", run.leak_check ? "yes" : "no"],
        ["Values of accesses", run.memory_values ? "followed" : "not followed"],
        ["Floating-point check", run.float_check ? "yes" : "no"],
        ["Initialisation check", run.init_check ? "yes" : "no"],
      ])),
      panel("Assumptions", {}, pairs(Object.entries(run.assumptions).map(([name, value]) => [capital(spaced(name)), value])))),
    panel("Trust", { note: "Which figures are counted, modelled or estimated, and what they lack." }, pairs(side().trust)),
    wholeRunPanel(),
    panel("Notes", {}, run.notes.length > 0 ? h("ul", { class: "plain-list" }, run.notes.map((note) => h("li", null, note))) : nothing("None.")),
    panel("Not counted", { note: "Memory operations that ran or may have run, and are in no figure." }, dataTable({
      id: "not-seen", label: "Not counted", rows: notSeen, none: "Nothing: every memory operation is counted.",
      open: (row) => sourceRoute(row.file, row.line),
      columns: [
        { key: "place", label: "Line", value: (row) => place(row.file, row.line) },
        { key: "function", label: "Function", plain: true, value: (row) => row.function },
        { key: "what", label: "What", plain: true, value: (row) => row.what },
      ],
    })),
    panel("Host allocations", {}, dataTable({
      id: "hosts", label: "Host allocations", rows: hosts, sort: { key: "size", down: true }, none: "None that copies used were noted.",
      columns: [
        { key: "name", label: "Allocation", value: (row) => `${row.count > 1 ? `${row.count} × ` : ""}${row.name ?? `${row.kind} ${row.id}`}` },
        { key: "kind", label: "Kind", plain: true, value: (row) => row.kind },
        { key: "size", label: "Size", unit: "bytes", value: (row) => row.bytes },
        { key: "from", label: "Made at", plain: true, value: (row) => { const frame = userFrame(row.path); return frame ? `${plainName(frame.function)} ${baseName(frame.file)}:${frame.line}` : ""; } },
      ],
    })),
    panel("Environment", { note: "What may differ between identical runs." }, pairs([
      ["Command", environment.command.join(" ")],
      ["Versions", Object.entries(environment.versions).map((pair) => pair.join(" ")).join(", ")],
      ["Time", Object.entries(environment.seconds).map(([name, value]) => `${name} ${seconds(value)}`).join(", ")],
      ["Machine", environment.host],
      ["Date", environment.date],
      ["Threads", environment.threads === null ? null : String(environment.threads)],
    ])),
  ];
}
