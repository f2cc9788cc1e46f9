// Optional analyses: loads that bypass L1, and pages that an SM touches.

/** Names of the lines whose loads a set of sites stands for. */
function sitePlaces(kernel, ids) {
  const sites = (side().by("sites", "kernel").get(kernel.id) ?? []).filter((site) => site.space === "global");
  const places = new Set(ids.map((id) => sites.find((site) => site.id === id)).filter(Boolean).map((site) => place(site.file, site.line)));
  return [...places].slice(0, 4).join(", ") + (places.size > 4 ? ` and ${places.size - 4} more` : "");
}

function bypassPanel(kernel) {
  const advice = kernel.bypass;
  if (!advice) return null;
  const rate = (level, hits = "hits", lookups = "lookups") => ratio(level[hits], level[lookups]);
  const all = advice.warps[advice.warps.length - 1];
  const rows = [
    ...advice.warps.map((row) => ({ row, what: `${row === all ? "all " : ""}${plural(row.warps, "warp")} of a block use L1`, best: advice.best === "warps" && row.warps === advice.best_warps })),
    ...advice.sites.filter((row) => row.sites.length > 0).map((row) => ({ row, what: `all loads but those at ${sitePlaces(kernel, row.sites)}`, best: advice.best === "sites" && row.sites.join() === advice.best_sites.join() })),
  ];
  const { equation } = advice;
  const said = advice.best === "as_it_is" ? "None of the choices sends less to L2 than all loads using L1." : null;
  return panel("Loads that go past L1", { note: `Simulated, on ${profile().run.models[0]}.` },
    said ? h("p", null, said) : null,
    h("p", { class: "note" }, equation ? `CUDAAdvisor's equation 1 gives ${equation.warps} of ${plural(equation.warps_per_block, "warp")} (reuse distance ${mean(equation.reuse_distance)} elements, ${mean(equation.divergence_degree)} lines of ${bytes(equation.line_bytes)} per load, L1 of ${bytes(equation.l1_bytes)}, ${plural(equation.blocks_per_sm, "block")} per SM).` : advice.without_reuse ? "CUDAAdvisor's equation 1: not computed, as reuse distances were off (--reuse off); loads were tried in the order of the code." : "CUDAAdvisor's equation 1 does not apply: no block uses again what it loaded."),
    dataTable({
      id: "bypass", label: "Choices", rows, search: false, current: (row) => row.best,
      none: "The model does not cache loads of global memory in L1.",
      columns: [
        { key: "what", label: "Choice", value: (row) => `${row.what}${row.best ? " (least to L2)" : ""}` },
        { key: "l2_lookups", label: "To L2", unit: "count", bar: "plain", value: (row) => row.row.l2.lookups },
        { key: "l1_rate", label: "L1 hit", unit: "share", value: (row) => rate(row.row.l1, "load_hits", "load_lookups") },
        { key: "l2_rate", label: "L2 hit", unit: "share", value: (row) => rate(row.row.l2) },
        { key: "dram", label: "DRAM", unit: "bytes", value: (row) => 32 * (row.row.dram.read_sectors + row.row.dram.write_sectors) },
      ],
    }));
}

function pagesPanel(kernel) {
  const { pages } = kernel;
  if (!pages) return null;
  return panel(`Pages of ${bytes(pages.page_bytes)}`, { note: `Distinct ones that an SM touches within ${count(pages.window_requests)} of its requests.` }, pairs([
    ["Mean of a window", mean(pages.mean)],
    ["Most", count(pages.most)],
    ["All SMs and launches", count(pages.distinct)],
    ["TLB reaches", pages.reach_bytes === undefined ? "not known" : bytes(pages.reach_bytes)],
    ["Windows beyond that", pages.beyond_reach === undefined ? null : `${count(pages.beyond_reach)} of ${count(pages.windows)}`],
  ]));
}
