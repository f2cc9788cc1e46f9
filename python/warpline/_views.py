"""Frequent questions about a dataset as views, which are plain SQL over its tables."""

from collections import namedtuple

#: A view: its name, the question that it answers, and its SQL.
View = namedtuple("View", "name about sql")

_RUN = "program, commit, rank, model, run"

VIEWS = (
    View(
        "hot_lines",
        "source lines by the sectors that they request, with their share of the run's, coalescing and DRAM traffic",
        f"""SELECT {_RUN}, kernel_name, file, line, source, space, requests, sectors,
              sectors / nullif(sum(sectors) OVER (PARTITION BY run), 0) AS share,
              ideal_sectors / nullif(sectors, 0) AS coalescing,
              (dram_read_sectors + dram_write_sectors) * 32 AS dram_bytes
            FROM lines WHERE space <> 'shared' ORDER BY sectors DESC""",
    ),
    View(
        "worst_coalescing",
        "source lines by the sectors beyond what their bytes would fill",
        f"""SELECT {_RUN}, kernel_name, file, line, source, space, sectors - ideal_sectors AS avoidable_sectors,
              ideal_sectors / nullif(sectors, 0) AS coalescing, sectors / nullif(requests, 0) AS sectors_per_request
            FROM lines WHERE space IN ('global', 'local') AND sectors > ideal_sectors ORDER BY avoidable_sectors DESC""",
    ),
    View(
        "bank_conflicts",
        "source lines by passes over shared memory beyond those without conflicts",
        f"""SELECT {_RUN}, kernel_name, file, line, source, wavefronts - ideal_wavefronts AS avoidable_passes,
              wavefronts / nullif(ideal_wavefronts, 0) AS passes_over_ideal
            FROM lines WHERE space = 'shared' AND wavefronts > ideal_wavefronts ORDER BY avoidable_passes DESC""",
    ),
    View(
        "traffic_by_allocation",
        "allocations by their sectors, with hit rates, DRAM traffic and bytes that kernels touched",
        f"""SELECT {_RUN}, allocation, allocation_name, kind, size_bytes, touched_bytes, requests, sectors,
              ideal_sectors / nullif(sectors, 0) AS coalescing,
              l1_load_hits / nullif(l1_load_lookups, 0) AS l1_hit_rate, l2_hits / nullif(l2_lookups, 0) AS l2_hit_rate,
              dram_read_sectors * 32 AS dram_read_bytes, dram_write_sectors * 32 AS dram_written_bytes
            FROM allocations ORDER BY sectors DESC""",
    ),
    View(
        "allocations_by_line",
        "which source line touches which allocation, and how",
        f"""SELECT {_RUN}, kernel_name, file, line, op, allocation, allocation_name, sum(requests) AS requests,
              sum(sectors) AS sectors, sum(ideal_sectors) / nullif(sum(sectors), 0) AS coalescing,
              sum(dram_read_sectors + dram_write_sectors) * 32 AS dram_bytes
            FROM accesses GROUP BY ALL ORDER BY sectors DESC""",
    ),
    View(
        "rank_imbalance",
        "kernels over the ranks of a program: least, mean and most sectors, with the ranks that have them, and most over mean",
        """WITH of_rank AS (
              SELECT program, commit, model, kernel_name, space, rank, sum(requests) AS requests, sum(sectors) AS sectors
              FROM kernel_metrics GROUP BY ALL)
            SELECT program, commit, model, kernel_name, space, count(*) AS ranks, min(sectors) AS least,
              arg_min(rank, (sectors, rank)) AS least_rank, avg(sectors) AS mean, max(sectors) AS most,
              arg_max(rank, (sectors, -rank)) AS most_rank, stddev_pop(sectors) AS stddev,
              max(sectors) / nullif(avg(sectors), 0) AS imbalance
            FROM of_rank GROUP BY ALL HAVING count(*) > 1 ORDER BY imbalance DESC, most DESC""",
    ),
    View(
        "unbalanced_places",
        "kernels, call paths, lines, sites and allocations of merged profiles by how far their greatest rank is above the mean",
        f"""SELECT {_RUN}, place, kernel_name, file, line, s.allocation_name, p.text AS path, space, figure, ranks,
              least, least_rank, mean, most, most_rank, stddev, most / nullif(mean, 0) AS imbalance
            FROM rank_statistics s LEFT JOIN (SELECT run AS of_run, path AS node, text FROM paths) p
              ON p.of_run = s.run AND p.node = s.path
            WHERE most > least ORDER BY imbalance DESC, most DESC, place, kernel_name, file, line, figure""",
    ),
    View(
        "findings_by_commit",
        "how often each finding stands, by program, commit and kernel",
        """SELECT program, commit, model, finding, severity, kernel_name, count(*) AS findings, count(DISTINCT run) AS runs,
              sum(gain_seconds) AS gain_seconds, min(f.file || ':' || f.line) AS first_place
            FROM findings f GROUP BY ALL
            ORDER BY commit, findings DESC, finding, kernel_name""",
    ),
    View(
        "kernel_history",
        "figures of each kernel by date and commit: filter by kernel_name, read the column of the metric",
        """SELECT k.program, k.commit, r.date, k.rank, k.model, k.kernel_name, k.launches, k.estimated_seconds, k.limiter,
              sum(m.requests) AS requests, sum(m.sectors) FILTER (m.space <> 'shared') AS sectors,
              sum(m.ideal_sectors) FILTER (m.space <> 'shared') / nullif(sum(m.sectors) FILTER (m.space <> 'shared'), 0) AS coalescing,
              sum(m.wavefronts) FILTER (m.space = 'shared') AS shared_passes,
              sum(m.dram_read_sectors + m.dram_write_sectors) * 32 AS dram_bytes, k.instruction_warps, k.run
            FROM kernels k JOIN runs r USING (run) LEFT JOIN kernel_metrics m ON m.run = k.run AND m.kernel = k.kernel
            GROUP BY ALL ORDER BY k.program, k.kernel_name, k.model, r.date, k.rank""",
    ),
    View(
        "hit_rates_by_model",
        "what the caches of each model make of each kernel, and the time that it estimates",
        """SELECT m.program, m.commit, m.rank, m.model, m.kernel_name, m.space, m.l1_load_hits / nullif(m.l1_load_lookups, 0) AS l1_hit_rate,
              m.l2_hits / nullif(m.l2_lookups, 0) AS l2_hit_rate, (m.dram_read_sectors + m.dram_write_sectors) * 32 AS dram_bytes,
              k.estimated_seconds, k.limiter
            FROM kernel_metrics m JOIN kernels k ON k.run = m.run AND k.kernel = m.kernel
            WHERE m.l1_lookups IS NOT NULL ORDER BY m.program, m.commit, m.rank, m.kernel_name, m.space, m.model""",
    ),
    View(
        "divergent_branches",
        "branches by the lane slots that stay idle because of them",
        f"""SELECT {_RUN}, kernel_name, file, line, "column", executions, divergent,
              divergent / nullif(executions, 0) AS divergent_share, idle_lane_slots
            FROM branches WHERE divergent > 0 ORDER BY idle_lane_slots DESC, divergent DESC""",
    ),
    View(
        "partial_blocks",
        "basic blocks by the lanes that did not run them, with the share of executions by part of a warp",
        f"""SELECT {_RUN}, kernel_name, file, line, executions, partial, partial / nullif(executions, 0) AS partial_share,
              lanes_lost, lanes_lost * instructions AS lost_lane_slots
            FROM blocks WHERE lanes_lost > 0 ORDER BY lost_lane_slots DESC, file, line""",
    ),
    View(
        "redundant_copies",
        "copies that brought nothing new, by bytes",
        f"""SELECT {_RUN}, c.allocation_name, direction, copies, unchanged_copies,
              copied_bytes * unchanged_copies / copies AS redundant_bytes, p.text AS path
            FROM copies c LEFT JOIN (SELECT run AS of_run, path AS node, text FROM paths) p ON p.of_run = c.run AND p.node = c.path
            WHERE unchanged_copies > 0 ORDER BY redundant_bytes DESC""",
    ),
    View(
        "reuse_by_kernel",
        "how many uses of global memory lie within a distance, as a share of all, by kernel and granularity",
        f"""WITH of_kernel AS (
              SELECT {_RUN}, kernel_name, granularity, distance, sum(uses) AS uses FROM reuse GROUP BY ALL)
            SELECT {_RUN}, kernel_name, granularity, distance, uses,
              sum(uses) OVER (PARTITION BY run, kernel_name, granularity ORDER BY distance NULLS LAST)
                / sum(uses) OVER (PARTITION BY run, kernel_name, granularity) AS share_within
            FROM of_kernel ORDER BY run, kernel_name, granularity, distance NULLS LAST""",
    ),
    View(
        "request_lines",
        "requests of kept traces by source line: how many, their lanes and sectors",
        f"""SELECT {_RUN}, kernel_name, file, line, op, space, count(*) AS requests, avg(lanes) AS lanes_per_request,
              sum(sectors) AS sectors, avg(sectors) AS sectors_per_request, sum(ideal_sectors) / nullif(sum(sectors), 0) AS coalescing
            FROM requests GROUP BY ALL ORDER BY sectors DESC""",
    ),
    View(
        "request_sectors",
        "requests of kept traces by the number of sectors that they touch",
        f"""SELECT {_RUN}, kernel_name, file, line, op, sectors, count(*) AS requests
            FROM requests WHERE space = 'global' GROUP BY ALL ORDER BY run, kernel_name, file, line, op, sectors""",
    ),
    View(
        "request_blocks",
        "blocks of launches of kept traces by the sectors that they request",
        f"""SELECT {_RUN}, kernel_name, launch, block, count(*) AS requests, sum(sectors) AS sectors
            FROM requests WHERE space <> 'shared' GROUP BY ALL ORDER BY sectors DESC, launch, block""",
    ),
    View(
        "request_allocations",
        "requests of kept traces by allocation and kernel: how often, and how scattered",
        f"""SELECT {_RUN}, kernel_name, allocation, allocation_name, op, count(*) AS requests, sum(bytes) AS bytes,
              sum(sectors) AS sectors, count(stride_bytes) / count(*) AS constant_stride_share
            FROM requests WHERE allocation IS NOT NULL GROUP BY ALL ORDER BY sectors DESC""",
    ),
)
