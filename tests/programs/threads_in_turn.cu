// Loops of different lengths that gather: without records, the threads of a warp run one after the other, unless one of
// them may read what another one writes. Then lanes go in step, as always.
#include "test.h"

constexpr int N = 1000;

__global__ void sparse_product(const int *rows, const int *columns, const float *values, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = 0;
        for (int k = rows[i]; k < rows[i + 1]; ++k) {
            sum += values[k] * x[columns[k]];
        }
        y[i] = sum;
    }
}

struct Matrix {
    int n;
    const int *rows;
    const int *columns;
    const float *values;
};

// Each thread reads and writes its own element of y, and the pointers are in a structure.
__global__ void add_product(Matrix a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n) {
        float sum = 2 * y[i];
        for (int k = a.rows[i]; k < a.rows[i + 1]; ++k) {
            sum += a.values[k] * x[a.columns[k]];
        }
        y[i] = sum;
    }
}

// Each thread replaces an element that its neighbours read: all of the warp read before one of them writes.
__global__ void sums_of_neighbours(const int *lengths, const int *in, int *out)
{
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < lengths[i]; ++k) {
        sum += in[(i * 7 + k * 5) & 31];
    }
    out[i] = sum;
}

__global__ void in_place(const int *lengths, int *cells)
{
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < lengths[i]; ++k) {
        sum += cells[(i * 7 + k * 5) & 31];
    }
    cells[i] = sum;
}

// The last lane of those that store to one element wins.
__global__ void one_element(const int *lengths, const int *in, int *out)
{
    int i = threadIdx.x, sum = 0;
    for (int k = 0; k < lengths[i]; ++k) {
        sum += in[(i * 7 + k * 5) & 31];
    }
    out[i / 8] = sum;
}

static void products()
{
    std::vector<int> rows(N + 1), columns;
    for (int i = 0; i < N; ++i) {
        for (int k = 0; k < i * 7 % 9; ++k) {
            columns.push_back((i * 13 + k * 101) % N);
        }
        rows[i + 1] = static_cast<int>(columns.size());
    }
    std::vector<float> values(columns.size()), x(N), expected(N), thrice(N);
    for (size_t k = 0; k < values.size(); ++k) {
        values[k] = static_cast<float>(k % 5);
    }
    for (int i = 0; i < N; ++i) {
        x[i] = static_cast<float>(i % 11);
    }
    for (int i = 0; i < N; ++i) {
        for (int k = rows[i]; k < rows[i + 1]; ++k) {
            expected[i] += values[k] * x[columns[k]];
        }
        thrice[i] = 3 * expected[i];
    }
    Device<int> device_rows(rows), device_columns(columns);
    Device<float> device_values(values), device_x(x), device_y(N);
    Matrix matrix = {N, device_rows, device_columns, device_values};
    // The last warps of blocks of 50 threads are not full.
    for (unsigned threads : {128u, 50u}) {
        unsigned blocks = (N + threads - 1) / threads;
        sparse_product<<<blocks, threads>>>(device_rows, device_columns, device_values, device_x, device_y, N);
        expect_equal("sparse product", device_y.read().data(), expected.data(), N);
        add_product<<<blocks, threads>>>(matrix, device_x, device_y);
        expect_equal("sum of products", device_y.read().data(), thrice.data(), N);
    }
}

static void cells()
{
    std::vector<int> lengths(32), start(32), expected(32), last(4);
    for (int i = 0; i < 32; ++i) {
        lengths[i] = i * 5 % 13;
        start[i] = i * i + 1;
    }
    for (int i = 0; i < 32; ++i) {
        for (int k = 0; k < lengths[i]; ++k) {
            expected[i] += start[(i * 7 + k * 5) & 31];
        }
        last[i / 8] = expected[i];
    }
    Device<int> device_lengths(lengths), a(start), b(32);
    sums_of_neighbours<<<1, 32>>>(device_lengths, a, b);
    expect_equal("two arrays", b.read().data(), expected.data(), 32);
    one_element<<<1, 32>>>(device_lengths, a, b);
    expect_equal("one element", b.read().data(), last.data(), 4);
    sums_of_neighbours<<<1, 32>>>(device_lengths, a, a);
    expect_equal("one array in two arguments", a.read().data(), expected.data(), 32);
    a.write(start);
    in_place<<<1, 32>>>(device_lengths, a);
    expect_equal("one array", a.read().data(), expected.data(), 32);
}

int main()
{
    products();
    cells();
    return done("threads_in_turn");
}
