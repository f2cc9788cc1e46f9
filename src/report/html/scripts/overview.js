// The first page: the reliability of the profile, the limiter of the program, and suggested changes.

function heading(title, text, extra) {
  return h("div", { class: "heading" }, h("h1", null, title), text ? h("p", { class: "lead" }, text) : null, extra ?? null);
}

function kernelsByTime() {
  return profile().kernels.slice().sort((one, other) => (estimate(other)?.seconds ?? 0) - (estimate(one)?.seconds ?? 0) || spacesSum(other.metrics).sectors - spacesSum(one.metrics).sectors || one.id - other.id);
}

function programName(one = profile()) {
  const [executable, ...rest] = one.run.program;
  return executable ? [baseName(executable), ...rest].join(" ") : "an unknown program";
}

/** What a reader must know before any figure. */
function cautions() {
  const { run } = profile();
  const list = [];
  const caution = (title, text) => list.push(h("li", null, h("strong", null, title), " ", text));
  if (!run.complete) caution("Incomplete.", "The program or a kernel ended early, or work is missing: the figures are of what was recorded. The notes below say how it ended.");
  if (run.whole_run) caution("Sampled.", `${count(run.whole_run.recorded_launches)} of ${count(run.whole_run.launches)} launches were recorded (--budget), and counts are of these; what all launches did is an estimate with bounds, under “About”.`);
  else if (run.sampled) caution("Sampled.", "Only a share of the launches or blocks was recorded; counts are those of what was recorded.");
  if (run.mode === "counters") caution("Counters only.", "Requests were counted by instruction without their addresses: allocations, caches and reuse distances are not known.");
  if (run.dropped_records > 0) caution("Records dropped.", `${count(run.dropped_records)} records were dropped as allowed; counts are too low by them.`);
  for (const missing of run.missing ?? []) caution("Missing.", missing.reason);
  if (list.length === 0) return null;
  const most = 6;
  const rest = list.splice(most);
  return h("section", { class: "cautions", "aria-label": "How far to trust this" }, h("ul", null, list), rest.length > 0 ? h("p", null, link("about", `and ${plural(rest.length, "more")}`)) : null);
}

function verdict() {
  const [first] = kernelsByTime();
  const total = programSeconds();
  const asking = profile().findings.filter((finding) => finding.severity !== "note").length;
  const found = asking === 0 ? "No finding asks for a change." : `${capital(plural(asking, "finding"))} ${asking === 1 ? "asks" : "ask"} for a change.`;
  if (!first) return h("p", { class: "verdict" }, "No kernel was profiled. ", found);
  const row = estimate(first);
  if (!row || total === 0) return h("p", { class: "verdict" }, found);
  const by = limiter(row);
  return h(
    "p",
    { class: "verdict" },
    link(`kernel/${first.id}`, side().kernelLabel(first.id)),
    ` takes ${percent(row.seconds / total)} of the estimated ${seconds(total)} of all kernels`,
    by ? [", limited by ", h("strong", null, limitName(by))] : ", and what limits it is not known",
    ". ",
    found,
  );
}

function overviewFigures() {
  const total = programSum();
  const list = [];
  const time = programSeconds();
  if (time > 0) list.push({ key: "seconds", value: time, unit: "seconds", name: "program.seconds" });
  list.push({ key: "sectors", value: total.sectors * 32, unit: "bytes", name: "program.traffic" });
  for (const key of ["efficiency", "l1_rate", "l2_rate", "pass_efficiency"]) {
    const value = RATIOS[key].of(total);
    if (value !== null) list.push({ key, value, unit: "share", name: `program.${key}` });
  }
  if (total.simulated > 0) list.push({ key: "dram", value: total.dram * 32, unit: "bytes", name: "program.dram" });
  return figures(list);
}

function kernelCard(kernel, total) {
  const row = estimate(kernel);
  const sum = spacesSum(kernel.metrics);
  const facts = [
    row && total > 0 ? ["seconds", `${seconds(row.seconds)}, ${percent(row.seconds / total)}`] : null,
    ["launches", plural(kernel.launch_count, "launch", "launches")],
    RATIOS.efficiency.of(sum) !== null ? ["efficiency", `${percent(RATIOS.efficiency.of(sum))} coalesced`] : null,
    RATIOS.l1_rate.of(sum) !== null ? ["l1_rate", `${percent(RATIOS.l1_rate.of(sum))} L1`] : null,
    RATIOS.pass_efficiency.of(sum) !== null ? ["pass_efficiency", `${percent(RATIOS.pass_efficiency.of(sum))} banks`] : null,
  ];
  return h(
    "article",
    { class: "kernel-card" },
    h("header", null, h("h3", { title: kernel.name }, link(`kernel/${kernel.id}`, side().kernelLabel(kernel.id))), row && total > 0 ? meter(row.seconds / total, null) : null),
    h("p", { class: "facts" }, facts.filter(Boolean).map(([key, text]) => term(text, key))),
    limiterBars(kernel, { most: 4, compact: true }),
  );
}

function overviewView() {
  const { run, findings } = profile();
  const kernels = kernelsByTime();
  const total = programSeconds();
  const shown = 8;
  const grave = findings.filter((finding) => finding.severity !== "note");
  const first = (grave.length > 0 ? grave : findings).slice(0, 6);
  return [
    heading(programName(), null, runFacts()),
    cautions(),
    verdict(),
    overviewFigures(),
    panel("Findings", { note: first.length < findings.length ? link("findings", `all ${count(findings.length)}`) : null },
      first.length > 0 ? h("div", { class: "findings" }, first.map((finding) => findingCard(finding))) : nothing(run.complete ? "Nothing was found that asks for a change." : "Nothing was found in what was recorded.")),
    panel("What limits each kernel", { help: "limiter", note: kernels.length > shown ? link("kernels", `all ${count(kernels.length)} kernels`) : null },
      kernels.length > 0 ? h("div", { class: "kernel-cards" }, kernels.slice(0, shown).map((kernel) => kernelCard(kernel, total))) : nothing("The program launched no kernel that was recorded.")),
    run.notes.length > 0 ? panel("Notes", {}, h("ul", { class: "plain-list" }, run.notes.slice(0, 20).map((note) => h("li", null, note))), run.notes.length > 20 ? link("about", `all ${count(run.notes.length)}`) : null) : null,
  ];
}

/** How the program ran, in a line. */
function runFacts() {
  const { run } = profile();
  const parts = [];
  const model = run.assumptions.model && state.model === run.models[0] ? run.assumptions.model : state.model;
  if (model) parts.push(`modelled as ${model}`);
  parts.push(run.device === "gpu" ? "run on a GPU" : "run without a GPU");
  parts.push(run.complete ? "complete" : "incomplete");
  if (run.exit_code) parts.push(`exit code ${run.exit_code}`);
  return h("p", { class: "lead" }, parts.join(" · "));
}
