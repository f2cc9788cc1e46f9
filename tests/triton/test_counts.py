"""Counts that follow from the kernels by hand."""

import tempfile
import threading
import unittest

import numpy as np
import triton

import kernels
import warpline
import warpline.triton

warpline.triton.install(gpu="a100")


def profiled(launch):
    """The profile of what ``launch()`` runs."""
    with warpline.profile() as section:
        launch()
    return section.result


def one(table, **wanted):
    """The row of a table with these values, of which there must be one."""
    for name, value in wanted.items():
        table = table[table[name] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def line_of(kernel, text):
    """Number of the kernel's line that holds a text."""
    first = kernel.starting_line_number
    lines = kernel.src.splitlines()
    # The source that is kept begins at `def`.
    begin = next(at for at, line in enumerate(kernel.raw_src) if line.lstrip().startswith("def "))
    return first + begin + next(at for at, line in enumerate(lines) if text in line)


class Counts(unittest.TestCase):
    """Requests, sectors and wavefronts."""

    def test_a_contiguous_copy_touches_each_sector_once(self):
        # 1024 elements of 4 bytes: 4 KiB in 128 sectors; 4 warps read 16 bytes per lane, so 512 bytes per request: 8
        # requests.
        x, out = np.arange(1024, dtype="f4"), np.zeros(1024, "f4")
        found = profiled(lambda: kernels.masked_copy[(1,)](x, out, 1024, BLOCK=1024))
        for name in ("x", "out"):
            row = one(found.allocations, name=name)
            self.assertEqual((row.requests, row.bytes, row.sectors, row.ideal_sectors), (8, 4096, 128, 128))
            self.assertEqual(row.coalescing, 1)

    def test_strides_touch_as_many_sectors_as_they_must(self):
        # Distances of 2, 4, 8 and 16 elements of 4 bytes: 8, 16, 32 or 64 bytes, of sectors of 32.
        for stride in (2, 4, 8, 16):
            x, out = np.arange(1024 * stride, dtype="f4"), np.zeros(1024, "f4")
            found = profiled(lambda: kernels.strided_copy[(1,)](x, out, stride, BLOCK=1024))
            row = one(found.allocations, name="x")
            self.assertEqual((row.lanes, row.bytes), (1024, 4096))
            # Each lane has four neighbouring elements, in a request for each: lanes are four strides apart.
            self.assertEqual(row.requests, 32)
            self.assertEqual(row.sectors, 1024)
            self.assertEqual(row.ideal_sectors, 32 * 4)
            site = found.sites[found.sites.op == "load"].iloc[0]
            self.assertEqual(site.stride_bytes, 4 * stride * 4)
            self.assertEqual(site.line, line_of(kernels.strided_copy, "tl.load"))
            np.testing.assert_array_equal(out, x[::stride])

    def test_a_copy_back_to_front_has_its_lanes_sixteen_bytes_apart(self):
        # Each lane has four neighbours, in a request for each, from the end on: two lanes to a sector, 16 sectors of
        # the 4 that hold 128 bytes.
        x, out = np.arange(1024, dtype="f4"), np.zeros(1024, "f4")
        found = profiled(lambda: kernels.reversed_copy[(1,)](x, out, 1024, BLOCK=1024))
        np.testing.assert_array_equal(out, x[::-1])
        row = one(found.allocations, name="x")
        self.assertEqual((row.requests, row.lanes, row.sectors, row.ideal_sectors), (32, 1024, 32 * 16, 32 * 4))
        self.assertEqual(one(found.allocations, name="out").sectors, 128)

    def test_a_window_of_rows_touches_what_its_mask_lets_through(self):
        # 20 of 32 columns of 16 rows of 100 floats, in one warp: eight lanes to a row with four neighbours each, in a
        # request for each. A request has five lanes of each of four rows, 16 bytes apart: they span 68 bytes that begin
        # at a sector or in its middle, 3 sectors.
        x, out = np.arange(1600, dtype="f4").reshape(16, 100), np.zeros((16, 32), "f4")
        found = profiled(lambda: kernels.window[(1,)](x, out, 100, 20, ROWS=16, COLUMNS=32, num_warps=1))
        np.testing.assert_array_equal(out[:, :20], x[:, :20])
        row = one(found.allocations, name="x")
        self.assertEqual((row.requests, row.lanes, row.bytes), (16, 320, 1280))
        self.assertEqual((row.sectors, row.ideal_sectors), (16 * 4 * 3, 16 * 3))
        self.assertEqual(one(found.allocations, name="out").sectors, 64)

    def test_a_stride_with_a_mask_touches_a_sector_for_each_lane_that_it_lets_through(self):
        # 100 of 256 elements, 12 bytes apart, in one warp: the mask lets 25 lanes of the first 128 elements through,
        # four neighbours each, in a request for each. Its lanes are 48 bytes apart, in a sector each. The other 128
        # elements are no request.
        x, out = np.arange(768, dtype="f4"), np.zeros(256, "f4")
        found = profiled(lambda: kernels.every_third[(1,)](x, out, 100, BLOCK=256, num_warps=1))
        np.testing.assert_array_equal(out[:100], x[:300:3])
        row = one(found.allocations, name="x")
        self.assertEqual((row.requests, row.lanes, row.sectors, row.ideal_sectors), (4, 100, 100, 4 * 4))
        self.assertEqual(one(found.allocations, name="out").sectors, 32)

    def test_a_transposed_store_goes_through_shared_memory_and_is_coalesced(self):
        # 4 KiB in one warp: 8 requests of 16 bytes a lane each way. Triton stores the columns from another layout, to
        # which shared memory takes them without conflicts: 32 passes of 128 bytes each way.
        x, out = np.arange(1024, dtype="f4").reshape(32, 32), np.zeros((32, 32), "f4")
        found = profiled(lambda: kernels.plain_transpose[(1,)](x, out, N=32, num_warps=1))
        np.testing.assert_array_equal(out, x.T)
        for name in ("x", "out"):
            row = one(found.allocations, name=name)
            self.assertEqual((row.requests, row.sectors, row.ideal_sectors), (8, 128, 128))
        shared = found.sites[found.sites.space == "shared"]
        self.assertEqual([shared[shared.op == op].wavefronts.sum() for op in ("store", "load")], [32, 32])

    def test_a_mask_leaves_lanes_out(self):
        # 100 of 256 elements.
        x, out = np.ones(100, "f4"), np.zeros(100, "f4")
        found = profiled(lambda: kernels.masked_copy[(1,)](x, out, 100, BLOCK=256))
        row = one(found.allocations, name="x")
        self.assertEqual((row.lanes, row.bytes), (100, 400))
        self.assertEqual(out.sum(), 100)

    def test_a_matrix_product_reads_its_operands_once_per_block(self):
        M = N = K = 64
        a, b, c = np.ones((M, K), "f2"), np.ones((K, N), "f2"), np.zeros((M, N), "f2")
        blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 1, "ACTIVATION": ""}
        found = profiled(lambda: kernels.matmul[(4,)](a, b, c, M, N, K, K, 1, N, 1, N, 1, **blocks))
        self.assertTrue((c == K).all())
        # Each of the two block rows (columns) reads half of a (b) for each of the two block columns (rows).
        for name in ("a", "b"):
            self.assertEqual(one(found.allocations, name=name).bytes, 2 * M * K * 2)
        self.assertEqual(one(found.allocations, name="c").bytes, M * N * 2)
        row = found.kernels.iloc[0]
        self.assertEqual(row["name"], "matmul[BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=1, ACTIVATION=]")
        self.assertEqual(row.shared_wavefronts, row.shared_ideal_wavefronts)

    def test_the_same_run_gives_the_same_profile(self):
        x, out = np.arange(4096, dtype="f4").reshape(64, 64), np.zeros((64, 64), "f4")
        launch = lambda: kernels.transpose[(2, 2)](x, out, 64, 64, BLOCK=32)
        launch()
        first, second = profiled(launch), profiled(launch)
        first.data["run"].pop("environment"), second.data["run"].pop("environment")
        self.assertEqual(first.data, second.data)


class Tensor:
    """Attributes that Triton reads of a tensor that is reinterpreted with another element type."""

    device, dtype = "cpu", "int8"

    def __init__(self, data):
        self.data, self.shape, self.nbytes = data, data.shape, data.nbytes

    def data_ptr(self):
        return self.data.ctypes.data

    def element_size(self):
        return self.data.itemsize


class Names(unittest.TestCase):
    """What the profile calls things."""

    def launch(self, left):
        right, result = np.ones(64, "f4"), np.zeros(64, "f4")
        kernels.vector_add[(1,)](left, right, result, 64, BLOCK=64, num_warps=2)
        return result

    def test_arrays_are_called_by_the_variables_of_the_launch(self):
        found = profiled(lambda: self.launch(np.ones(64, "f4")))
        self.assertEqual(list(found.allocations.name), ["left", "right", "result"])
        self.assertEqual(set(found.allocations.kind), {"tensor"})
        self.assertEqual(list(found.kernels.name), ["vector_add[BLOCK=64, num_warps=2]"])

    def test_a_tensor_that_is_taken_for_another_type_is_known_as_itself(self):
        # An eight-bit float with five bits of exponent is the upper half of one of sixteen bits.
        halves, narrow = 2.0 ** (np.arange(64) % 16 - 8), Tensor(np.zeros(64, "i1"))
        halves = halves.astype("f2")
        found = profiled(lambda: kernels.masked_copy[(1,)](halves, triton.reinterpret(narrow, triton.language.float8e5), 64, BLOCK=64))
        np.testing.assert_array_equal(narrow.data.view("u1"), halves.view("u1")[1::2])
        self.assertEqual([(row["name"], row["size"]) for _, row in found.allocations.iterrows()], [("halves", 128), ("narrow", 64)])

    def test_temporaries_are_called_by_the_parameters(self):
        def launch():
            kernels.vector_add[(1,)](np.ones(64, "f4"), np.ones(64, "f4"), np.zeros(64, "f4"), 64, BLOCK=64)

        self.assertEqual(list(profiled(launch).allocations.name), ["x_ptr", "y_ptr", "out_ptr"])

    def test_paths_are_python_s(self):
        found = profiled(lambda: self.launch(np.ones(64, "f4")))
        functions = [frame["function"].rpartition(".")[2] for frame in found.data["kernels"][0]["launches"][0]["path"]]
        self.assertEqual(functions[-4:], ["test_paths_are_python_s", "profiled", "<lambda>", "launch"])
        self.assertNotIn("triton", found.launches.path[0].replace("test_counts.py", ""))

    def test_threads_that_launch_a_kernel_for_the_first_time_share_it(self):
        kernels.vector_add.device_caches.clear()
        start = threading.Barrier(4)

        def launch():
            start.wait()
            self.launch(np.ones(64, "f4"))

        def work():
            threads = [threading.Thread(target=launch) for _ in range(4)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()

        found = profiled(work)
        self.assertEqual([(row["name"], row["launches"]) for _, row in found.kernels.iterrows()], [("vector_add[BLOCK=64, num_warps=2]", 4)])
        # Where the thread starts is the interpreter's.
        places = [(frame["function"].rpartition(".")[2], frame["file"]) for frame in found.data["kernels"][0]["launches"][0]["path"]]
        self.assertEqual([place for place in places if place[1] == __file__], places)
        self.assertEqual([function for function, _ in places], ["launch", "launch"])

    def test_launches_and_arrays_that_end_are_told(self):
        def launch():
            for _ in range(3):
                self.launch(np.ones(64, "f4"))

        found = profiled(launch)
        self.assertEqual(len(found.launches), 3)
        self.assertTrue(found.allocations[found.allocations.name == "result"].freed.all())


class Estimates(unittest.TestCase):
    """Model times in the place of measured ones."""

    def test_more_work_takes_more_time(self):
        def time(n):
            x, out = np.ones(n, "f4"), np.zeros(n, "f4")
            return triton.testing.do_bench(lambda: kernels.vector_add[(n // 1024,)](x, x, out, n, BLOCK=1024))

        small, large = time(1 << 14), time(1 << 20)
        self.assertGreater(small, 0)
        self.assertGreater(large, small)
        self.assertEqual(time(1 << 14), small)

    def test_what_launches_no_kernel_has_no_time(self):
        self.assertTrue(np.isnan(triton.testing.do_bench(lambda: None)))
        found = triton.testing.do_bench(lambda: None, quantiles=[0.5, 0.2, 0.8])
        self.assertTrue(np.isnan(found).all() and len(found) == 3)

    def test_autotuning_takes_what_the_model_takes_for_faster(self):
        a, b, c = np.ones((64, 64), "f2"), np.ones((64, 64), "f2"), np.zeros((64, 64), "f2")
        grid = lambda meta: (triton.cdiv(64, meta["BLOCK_M"]) * triton.cdiv(64, meta["BLOCK_N"]),)
        kernels.tuned_matmul[grid](a, b, c, 64, 64, 64, 64, 1, 64, 1, 64, 1, ACTIVATION="")
        times = kernels.tuned_matmul.configs_timings
        best = kernels.tuned_matmul.best_config
        self.assertEqual(times[best], min(times.values()))


    def matmul(self):
        """A product of 64 blocks, and what it writes."""
        n = 256
        a, b, c = np.ones((n, n), "f2"), np.ones((n, n), "f2"), np.zeros((n, n), "f2")
        blocks = {"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4, "ACTIVATION": ""}
        return c, lambda: kernels.matmul[(64,)](a, b, c, n, n, n, n, 1, n, 1, n, 1, **blocks)

    def test_benchmarks_run_a_few_blocks_which_stand_for_all(self):
        c, launch = self.matmul()
        whole = triton.testing.do_bench(launch)
        self.assertTrue((c == 256).all())
        c[:] = 0
        # `Mark.run` draws a plot, with packages that are not required here.
        self.assertTrue(triton.testing.Mark._run._warpline)
        with warpline.triton._testing._Sampled():
            few = triton.testing.do_bench(launch)
            # Four tiles of 32 x 32, of 64.
            self.assertEqual(np.count_nonzero(c), 4 * 32 * 32)
            sampled = profiled(launch)
        # Every block of this product does the same.
        self.assertAlmostEqual(few / whole, 1, delta=0.02)
        self.assertTrue(sampled.data["run"]["sampled"])
        launch()
        self.assertTrue((c == 256).all())

    def test_blocks_that_wait_for_others_all_run(self):
        rows, columns, group = 64, 32, 4
        x = np.ones((rows, columns), "f4")
        partial, locks = np.zeros((group, columns), "f4"), np.zeros(2 * group, "i4")
        with warpline.triton._testing._Sampled():
            kernels.column_sums[(rows,)](x, partial, locks, columns, GROUP=group, BLOCK=32)
        self.assertTrue((partial.sum(0) == rows).all())


class Products(unittest.TestCase):
    """Passes over the banks of shared memory for the operands of `tl.dot`: 32 banks of 4 bytes, 128 bytes per pass."""

    def passes(self, dtype, line, kernel=kernels.product):
        """Passes of the stores and the loads that a line's operand takes through shared memory, in a block of one warp."""
        n = 32
        a, b, c = (np.ones((n, n), dtype) for _ in range(3))
        found = profiled(lambda: kernel[(1,)](a, b, c.astype("f4"), N=n, num_warps=1))
        sites = found.sites[(found.sites.space == "shared") & (found.sites.line == line_of(kernel, line))]
        return [sites[sites.op == op].wavefronts.sum() for op in ("store", "load")]

    def test_each_operand_passes_the_banks_as_often_as_its_bytes_fill_them(self):
        # 32 x 32 halves are 2 KiB: 16 passes to write them, 16 to read them (`ldmatrix`), as Triton swizzles them.
        self.assertEqual(self.passes("f2", "x = tl.load"), [16, 16])
        self.assertEqual(self.passes("f2", "y = tl.load"), [16, 16])
        # In single precision 4 KiB: 32 and 32.
        self.assertEqual(self.passes("f4", "x = tl.load"), [32, 32])
        self.assertEqual(self.passes("f4", "y = tl.load"), [32, 32])

    def test_a_transposed_operand_passes_the_banks_no_more_often(self):
        # The line has the second operand's bytes, and those of 32 x 32 sums in single precision, which change their
        # layout for the store.
        self.assertEqual(self.passes("f2", "tl.trans(y)", kernels.product_of_rows), [16 + 32, 16 + 32])
        self.assertEqual(self.passes("f4", "tl.trans(y)", kernels.product_of_rows), [32 + 32, 32 + 32])

    def test_operands_that_are_not_swizzled_conflict(self):
        # Rows of 64 bytes: of the eight rows of 16 bytes that make a matrix of `ldmatrix`, every second one begins in
        # the same bank: 4 passes for each of 16 matrices. Swizzled in four phases of two rows, the eight rows are in
        # all banks: one pass.
        self.assertEqual([self.operands(phases) for phases in (1, 4)], [[16 + 16, 64 + 64], [16 + 16, 16 + 16]])

    def operands(self, phases):
        import gluon_kernels

        a, b = (np.random.default_rng(seed).integers(-3, 4, (32, 32)).astype("f2") for seed in (1, 2))
        c = np.zeros((32, 32), "f4")
        found = profiled(lambda: gluon_kernels.product[(1,)](a, b, c, PHASES=phases, num_warps=1))
        np.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4"))
        self.assertEqual("bank-conflict" in set(found.findings.id), phases == 1)
        shared = found.sites[found.sites.space == "shared"]
        return [int(shared[shared.op == op].wavefronts.sum()) for op in ("store", "load")]

    def test_products_take_the_time_of_tensor_cores(self):
        # 32 x 32 x 32 multiply-adds; an SM of an A100 does 1024 of halves in a cycle of 1.41 GHz, of tf32 half as many.
        # One block: one SM.
        for dtype, kind, rate in ("f2", "tensor_fp16", 1024), ("f4", "tensor_tf32", 512):
            a, b, c = np.ones((32, 32), dtype), np.ones((32, 32), dtype), np.zeros((32, 32), "f4")
            found = profiled(lambda: kernels.product[(1,)](a, b, c, N=32, num_warps=1))
            limits = {limit["name"]: limit for limit in found.data["kernels"][0]["estimates"][0]["limits"]}
            self.assertEqual(limits[kind]["amount"], 32**3)
            self.assertAlmostEqual(limits[kind]["seconds"], 32**3 / rate / 1.41e9, delta=1e-12)

    def test_columns_without_swizzling_meet_in_one_bank(self):
        # Rows take one pass each. A lane reads four neighbours of its row at once, 16 bytes: 8 requests. A row is 128
        # bytes, so all lanes use the same four banks: 32 passes each, of the 4 that 512 bytes need.
        self.assertEqual(self.columns(swizzled=False), (32, 8 * 32))

    def test_swizzling_puts_columns_into_all_banks(self):
        # Element j of row i lies where j xor i would: the 32 elements of a column are in 32 banks.
        self.assertEqual(self.columns(swizzled=True), (32, 32))

    def columns(self, swizzled):
        import gluon_kernels

        x, out = np.arange(1024, dtype="f4").reshape(32, 32), np.zeros((32, 32), "f4")
        found = profiled(lambda: gluon_kernels.transpose[(1,)](x, out, SWIZZLED=swizzled, num_warps=1))
        np.testing.assert_array_equal(out, x.T)
        shared = found.sites[found.sites.space == "shared"]
        return tuple(int(shared[shared.op == op].wavefronts.sum()) for op in ("store", "load"))


class Tables(unittest.TestCase):
    """Names, findings and data frames."""

    def test_kernels_of_other_types_have_other_names(self):
        x, halves, out = np.ones(1000, "f4"), np.ones(1000, "f2"), np.zeros(1000, "f4")

        def launch():
            for array, n in (x, 1000), (halves, 1000), (x, 992), (x, 1000):
                kernels.masked_copy[(4,)](array, out, n, BLOCK=256)

        found = profiled(launch)
        name = "masked_copy[BLOCK=256]"
        self.assertEqual(one(found.kernels, name=name).launches, 2)
        others = ["masked_copy[BLOCK=256, n%16]", "masked_copy[BLOCK=256, x_ptr:*fp16]"]
        self.assertEqual(sorted(set(found.kernels.name) - {name}), others)

    def test_cures_are_what_triton_can_do(self):
        x, out = np.zeros(65536, "i4"), np.zeros(16, "i4")
        found = profiled(lambda: kernels.histogram[(64,)](x, out, 65536, BLOCK=1024))
        finding = one(found.findings, id="atomic-contention")
        remedies = [each["remedy"] for each in found.data["findings"] if each["id"] == "atomic-contention"]
        self.assertEqual(remedies, ["reduce-within-program"])
        # What values pass through from one layout to another is no name of the source's.
        self.assertNotIn("global_smem", finding.reason)

    def test_kernels_in_place_on_small_tiles_are_told_why_warps_conflict(self):
        # Four warps load the 16 elements, one stores them.
        x = np.arange(16, dtype="f4")
        finding = one(profiled(lambda: kernels.masked_copy[(1,)](x, x, 16, BLOCK=16)).findings, id="race")
        self.assertIn("tl.debug_barrier()", finding.cure)
        self.assertNotIn("__syncthreads", finding.cure)

    def test_tables_have_their_types_with_pandas_and_with_polars(self):
        import polars

        x, out = np.arange(1024, dtype="f4"), np.zeros(1024, "f4")
        found = profiled(lambda: kernels.masked_copy[(1,)](x, out, 1024, BLOCK=1024))
        for table in ("kernels", "lines", "sites", "allocations", "launches", "findings"):
            frame, other = getattr(found, table), found.polars(table)
            self.assertEqual((list(frame.columns), len(frame)), (other.columns, other.height))
        self.assertEqual(str(found.sites.dtypes["wavefronts"]), "Int64")
        self.assertEqual(found.polars("sites").schema["wavefronts"], polars.Int64)
        self.assertEqual(found.polars("launches")["grid"].to_list(), [[1, 1, 1]])
        self.assertEqual(found.polars("lines")["sectors"].sum(), 256)
        with self.assertRaisesRegex(warpline.WarplineError, "no table 'rows'"):
            found.polars("rows")


    def test_tables_say_what_the_document_says(self):
        import pandas

        x, out = np.arange(16384, dtype="f4"), np.zeros(1024, "f4")
        found = profiled(lambda: kernels.strided_copy[(1,)](x, out, 16, BLOCK=1024))
        data = found.data
        names = {one["id"]: one["name"] for one in data["kernels"]}
        arrays = {one["id"]: one["name"] for one in data["allocations"]}

        def share(part, whole):
            return part / whole if whole else None

        def told(frame, names):
            return [tuple(None if pandas.isna(value) else value for value in row) for row in frame[names].astype(object).values]

        sites = [
            (
                *(names[site["kernel"]], site["line"], site["column"], site["op"], site["bytes"]),
                *(site["pattern"].get("stride_bytes"), ", ".join(arrays[one["allocation"]] for one in site["by_allocation"])),
                *(site["metrics"]["sectors"], site["metrics"]["l1"]["lookups"]),
                *(share(site["metrics"]["ideal_sectors"], site["metrics"]["sectors"]),),
                *(share(site["metrics"]["l1"]["load_hits"], site["metrics"]["l1"]["load_lookups"]),),
            )
            for site in data["sites"]
        ]
        columns = ["kernel", "line", "column", "op", "width", "stride_bytes", "objects", "sectors", "l1_lookups"]
        self.assertEqual(told(found.sites, [*columns, "coalescing", "l1_hit_rate"]), sites)
        # A thread has four neighbouring elements, 16 floats apart.
        self.assertIn(4 * 16 * 4, [site[5] for site in sites])
        kernel = data["kernels"][0]
        spaces, estimate = kernel["metrics"], kernel["estimates"][0]
        expected = (kernel["name"], 1, estimate["seconds"], estimate["limiter"], spaces["global"]["bytes"], None)
        columns = ["name", "launches", "seconds", "limiter", "global_bytes", "shared_requests"]
        self.assertEqual(told(found.kernels, columns), [expected])
        sizes = [(one["name"], one["kind"], one["bytes"], one["touched_bytes"]) for one in data["allocations"]]
        self.assertEqual(told(found.allocations, ["name", "kind", "size", "touched_bytes"]), sizes)
        first = data["findings"][0]
        expected = (1, first["id"], first["severity"], arrays[first["allocation"]], first["reason"], first["gain"]["factor"])
        self.assertEqual(told(found.findings, ["rank", "id", "severity", "object", "reason", "factor"])[0], expected)


class Differences(unittest.TestCase):
    """Two profiles side by side."""

    def test_what_changed_is_shown(self):
        x, out = np.arange(16384, dtype="f4"), np.zeros(1024, "f4")
        before = profiled(lambda: kernels.strided_copy[(1,)](x, out, 16, BLOCK=1024))
        after = profiled(lambda: kernels.strided_copy[(1,)](x, out, 2, BLOCK=1024))
        self.assertGreater(len(warpline.diff(before, after).kernels), 0)
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/{name}.wlprof" for name in ("before", "after")]
            before.save(files[0]), after.save(files[1])
            found = warpline.diff(*files)
            self.assertEqual(found.data["schema"], "warpline.diff")
            self.assertGreater(len(found.kernels), 0)
            self.assertEqual(warpline.load(files[1]).data, after.data)

    def test_a_decorated_function_keeps_its_profile(self):
        @warpline.profile()
        def work(n):
            x, out = np.ones(n, "f4"), np.zeros(n, "f4")
            kernels.masked_copy[(1,)](x, out, n, BLOCK=256)
            return out.sum()

        self.assertEqual(work(200), 200)
        self.assertEqual(len(work.profile.launches), 1)
        self.assertIn("<table", work.profile._repr_html_())


if __name__ == "__main__":
    unittest.main()
