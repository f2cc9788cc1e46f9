// Sparse matrix-vector product, 65536 rows of 32 entries at random columns; one thread per row.
#include "bench.h"

static const int ROWS = 1 << 16;
static const int ENTRIES = 32;

#ifdef __CUDACC__
__global__ void spmv(int rows, const int *start, const int *columns, const float *values, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int i = start[row]; i < start[row + 1]; ++i) {
            sum += values[i] * x[columns[i]];
        }
        y[row] = sum;
    }
}
#else
__attribute__((noinline)) static void spmv(int rows, const int *start, const int *columns, const float *values,
                                           const float *x, float *y)
{
    for (int row = 0; row < rows; ++row) {
        float sum = 0;
        for (int i = start[row]; i < start[row + 1]; ++i) {
            sum += values[i] * x[columns[i]];
        }
        y[row] = sum;
    }
}
#endif

int main(int argc, char **argv)
{
    std::vector<int> start(ROWS + 1), columns(ROWS * ENTRIES);
    std::vector<float> values(ROWS * ENTRIES), x(ROWS), y(ROWS);
    for (int row = 0; row <= ROWS; ++row) {
        start[row] = row * ENTRIES;
    }
    for (int i = 0; i < ROWS * ENTRIES; ++i) {
        columns[i] = static_cast<int>(number(i) * ROWS);
        values[i] = number(i + 7);
    }
    for (int i = 0; i < ROWS; ++i) {
        x[i] = number(i);
    }
#ifdef __CUDACC__
    int *dstart = on_device(start), *dcolumns = on_device(columns);
    float *dvalues = on_device(values), *dx = on_device(x), *dy = on_device(y);
    measure(rounds(argc, argv), [&] {
        spmv<<<ROWS / 128, 128>>>(ROWS, dstart, dcolumns, dvalues, dx, dy);
        need(cudaDeviceSynchronize());
    });
    to_host(y, dy);
#else
    measure(rounds(argc, argv),
            [&] { spmv(ROWS, start.data(), columns.data(), values.data(), x.data(), y.data()); });
#endif
    checksum(y);
}
