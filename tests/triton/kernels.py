"""Triton kernels in the spirit of its tutorials, written for these tests."""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + y, mask=inside)


@triton.jit
def strided_copy(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at * stride))


@triton.jit
def masked_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n, other=0.0), mask=at < n)


@triton.jit
def evicting_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    once = tl.load(x_ptr + at, mask=at < n, other=0.0, eviction_policy="evict_first")
    again = tl.load(x_ptr + at, mask=at < n, other=0.0, eviction_policy="evict_last")
    tl.store(out_ptr + at, once + again, mask=at < n, eviction_policy="evict_first")


@triton.jit
def transpose(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x_ptr + row[:, None] * columns + column[None, :])
    tl.store(out_ptr + column[:, None] * rows + row[None, :], tl.trans(tile))


@triton.jit
def softmax(out_ptr, x_ptr, row_stride, columns, rows, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        at = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + at, mask=at < columns, other=-float("inf"))
        top = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * row_stride + at, top / tl.sum(top, axis=0), mask=at < columns)


@triton.jit
def leaky(x):
    return tl.where(x >= 0, x, 0.01 * x)


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr, ACTIVATION: tl.constexpr,
):
    # Blocks in groups of rows, so that neighbours share what is in L2.
    program = tl.program_id(0)
    across, down = tl.cdiv(N, BLOCK_N), tl.cdiv(M, BLOCK_M)
    first = program // (GROUP * across) * GROUP
    tall = min(down - first, GROUP)
    pid_m = first + program % (GROUP * across) % tall
    pid_n = program % (GROUP * across) // tall
    rows = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    columns = (pid_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    inner = tl.arange(0, BLOCK_K)
    a_at = a_ptr + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_at = b_ptr + inner[:, None] * stride_bk + columns[None, :] * stride_bn
    sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_at, mask=inner[None, :] < K - k * BLOCK_K, other=0.0)
        b = tl.load(b_at, mask=inner[:, None] < K - k * BLOCK_K, other=0.0)
        sums = tl.dot(a, b, sums)
        a_at += BLOCK_K * stride_ak
        b_at += BLOCK_K * stride_bk
    if ACTIVATION == "leaky":
        sums = leaky(sums)
    rows = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + stride_cm * rows[:, None] + stride_cn * columns[None, :], sums.to(c_ptr.dtype.element_ty), mask=inside)


tuned_matmul = triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK_M": 64, "BLOCK_N": 32, "BLOCK_K": 32, "GROUP": 4}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)(matmul)


@triton.jit
def dropout(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    keep = tl.rand(seed, at) > p
    tl.store(out_ptr + at, tl.where(keep, x / (1 - p), 0.0), mask=at < n)


@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, stride, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + at, mask=at < columns, other=0.0).to(tl.float32)
        x = tl.where(at < columns, x - mean, 0.0)
        total += x * x
    rstd = 1 / tl.sqrt(tl.sum(total, axis=0) / columns + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    for begin in range(0, columns, BLOCK):
        at = begin + tl.arange(0, BLOCK)
        inside = at < columns
        w = tl.load(w_ptr + at, mask=inside)
        b = tl.load(b_ptr + at, mask=inside)
        x = tl.load(x_ptr + row * stride + at, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + row * stride + at, (x - mean) * rstd * w + b, mask=inside)


@triton.jit
def column_sums(x_ptr, partial_ptr, lock_ptr, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    # Rows are added to one of a few partial sums, each behind a lock.
    row = tl.program_id(0)
    which = row % GROUP
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=0.0)
    lock, count = lock_ptr + which, lock_ptr + GROUP + which
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    place = partial_ptr + which * columns + at
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        x += tl.load(place, mask=at < columns)
    tl.store(place, x, mask=at < columns)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, stride_head, stride_row, length,
    HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):
    begin, head = tl.program_id(0) * BLOCK_M, tl.program_id(1)
    rows, depth = begin + tl.arange(0, BLOCK_M), tl.arange(0, HEAD)
    base = head * stride_head
    q = tl.load(q_ptr + base + rows[:, None] * stride_row + depth[None, :])
    top = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    weight = tl.zeros([BLOCK_M], dtype=tl.float32)
    sums = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    end = begin + BLOCK_M if CAUSAL else length
    for n in range(0, end, BLOCK_N):
        n = tl.multiple_of(n, BLOCK_N)
        columns = n + tl.arange(0, BLOCK_N)
        k = tl.load(k_ptr + base + columns[None, :] * stride_row + depth[:, None])
        scores = tl.dot(q, k) * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -1.0e6)
        new_top = tl.maximum(top, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_top[:, None])
        shrink = tl.math.exp2(top - new_top)
        weight = weight * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + base + columns[:, None] * stride_row + depth[None, :])
        sums = sums * shrink[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    out = sums / weight[:, None]
    tl.store(out_ptr + base + rows[:, None] * stride_row + depth[None, :], out.to(out_ptr.dtype.element_ty))


@triton.jit
def arcsines(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, libdevice.asin(tl.load(x_ptr + at, mask=at < n)), mask=at < n)


@triton.jit
def histogram(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr + tl.load(x_ptr + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def reductions(x_ptr, out_ptr, index_ptr, sorted_ptr, scan_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * COLUMNS + columns[None, :])
    tl.store(out_ptr + rows, tl.sum(x, 1))
    tl.store(index_ptr + rows, tl.argmax(x, 1))
    place = rows[:, None] * COLUMNS + columns[None, :]
    tl.store(sorted_ptr + place, tl.sort(x, 1))
    tl.store(scan_ptr + place, tl.cumsum(x, 1))


@triton.jit
def casts(x_ptr, half_ptr, brain_ptr, back_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(half_ptr + at, x.to(tl.float16))
    tl.store(brain_ptr + at, x.to(tl.bfloat16).to(tl.float32))
    tl.store(back_ptr + at, x.to(tl.float8e5).to(tl.float32))


@triton.jit
def descriptor_copy(x_ptr, out_ptr, rows, columns, R: tl.constexpr, C: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[R, C])
    target = tl.make_tensor_descriptor(out_ptr, shape=[rows, columns], strides=[columns, 1], block_shape=[R, C])
    row, column = tl.program_id(0) * R, tl.program_id(1) * C
    target.store([row, column], source.load([row, column]))


@triton.jit
def integer_matmul(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(a_ptr + at[:, None] * N + at[None, :])
    b = tl.load(b_ptr + at[:, None] * N + at[None, :])
    tl.store(c_ptr + at[:, None] * N + at[None, :], tl.dot(a, b, out_dtype=tl.int32))


@triton.jit
def checked(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.device_assert(x < limit, "too large")
    tl.store(out_ptr + at, x)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(a_ptr + at[:, None] * N + at[None, :])
    y = tl.load(b_ptr + at[:, None] * N + at[None, :])
    tl.store(c_ptr + at[:, None] * N + at[None, :], tl.dot(x, y))


@triton.jit
def twice_rows(x_ptr, y_ptr, n, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    at = row * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(y_ptr + at, 2 * tl.load(x_ptr + at, mask=row < n), mask=row < n)


@triton.jit
def through_eighths(x_ptr, y_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at).to(KIND).to(tl.float32))


@triton.jit
def eighths(x_ptr, narrow_ptr, bytes_ptr, wide_ptr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(narrow_ptr + at, tl.load(x_ptr + at).to(KIND).to(tl.uint8, bitcast=True))
    tl.store(wide_ptr + at, tl.load(bytes_ptr + at).to(KIND, bitcast=True).to(tl.float32))


@triton.autotune([triton.Config({"BLOCK": size}) for size in (64, 128)], key=["n"], reset_to_zero=["sums_ptr"], restore_value=["x_ptr"])
@triton.jit
def tuned_in_place(x_ptr, sums_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(x_ptr + at, x + 1, mask=inside)
    tl.atomic_add(sums_ptr + at, x, mask=inside)


@triton.jit
def sum_of_all(pointers, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for index in tl.static_range(len(pointers)):
        total += tl.load(pointers[index] + at, mask=at < n)
    tl.store(out_ptr + at, total, mask=at < n)


@triton.jit
def reversed_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + (n - 1 - at)))


@triton.jit
def window(x_ptr, out_ptr, pitch, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = column < columns
    tl.store(out_ptr + row * COLUMNS + column, tl.load(x_ptr + row * pitch + column, mask=inside, other=0.0))


@triton.jit
def product_of_rows(a_ptr, b_ptr, c_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(a_ptr + at[:, None] * N + at[None, :])
    y = tl.load(b_ptr + at[:, None] * N + at[None, :])
    tl.store(c_ptr + at[:, None] * N + at[None, :], tl.dot(x, tl.trans(y)))


@triton.jit
def large_tile(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    for step in tl.static_range(4):
        x = x * x + step
    tl.store(out_ptr + at, x)


@triton.jit
def every_third(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + 3 * at, mask=at < n, other=0.0))


@triton.jit
def plain_transpose(x_ptr, out_ptr, N: tl.constexpr):
    row, column = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(out_ptr + column * N + row, tl.load(x_ptr + row * N + column))
