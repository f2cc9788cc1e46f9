// y = A·x for a sparse matrix in CSR form, with a thread per row and with a warp per row.
//
// Shows how the assignment of rows to lanes decides the coalescing of the matrix, while the vector is
// gathered either way. Every row has k entries. For rows a multiple of 32 and k a multiple of 32:
//   spmv_scalar: values, columns: rows/32 · k loads of 32 sectors (lanes are a row of 4·k bytes apart)
//   spmv_vector: values, columns: rows · k/32 loads of 4 sectors
//   row starts: two loads per warp; y: rows/32 stores of 4 sectors, or rows stores of one lane
//
// usage: spmv [rows = 8192] [entries per row = 32]
#include "../common/common.h"

#include <vector>

struct Csr {
    int rows;
    std::vector<int> starts, columns;
    std::vector<float> values;
};

struct DeviceCsr {
    int rows;
    int *starts, *columns;
    float *values;
};

__global__ void spmv_scalar(DeviceCsr a, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < a.rows) {
        int first = a.starts[row];
        int last = a.starts[row + 1];
        float sum = 0;
        for (int entry = first; entry < last; ++entry) {
            float value = a.values[entry];
            int column = a.columns[entry];
            sum += value * x[column];
        }
        y[row] = sum;
    }
}

__global__ void spmv_vector(DeviceCsr a, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row < a.rows) {
        int first = a.starts[row];
        int last = a.starts[row + 1];
        float sum = 0;
        for (int entry = first + lane; entry < last; entry += 32) {
            float value = a.values[entry];
            int column = a.columns[entry];
            sum += value * x[column];
        }
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        }
        if (lane == 0) {
            y[row] = sum;
        }
    }
}

static Csr generate(int rows, int entries_per_row)
{
    Csr a;
    a.rows = rows;
    a.starts.push_back(0);
    Random random(101);
    for (int row = 0; row < rows; ++row) {
        for (int entry = 0; entry < entries_per_row; ++entry) {
            a.columns.push_back(static_cast<int>(random.below(rows)));
            a.values.push_back(random.uniform());
        }
        a.starts.push_back(static_cast<int>(a.columns.size()));
    }
    return a;
}

template <typename T>
static T *upload(const std::vector<T> &values)
{
    T *pointer = nullptr;
    CUDA_CHECK(cudaMalloc(&pointer, values.size() * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(pointer, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return pointer;
}

static bool run(const Csr &a, const std::vector<float> &x, const std::vector<float> &expected)
{
    DeviceCsr d_a{a.rows, nullptr, nullptr, nullptr};
    CUDA_CHECK(cudaMalloc(&d_a.starts, a.starts.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_a.columns, a.columns.size() * sizeof(int)));
    CUDA_CHECK(cudaMalloc(&d_a.values, a.values.size() * sizeof(float)));
    CUDA_CHECK(cudaMemcpy(d_a.starts, a.starts.data(), a.starts.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_a.columns, a.columns.data(), a.columns.size() * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(d_a.values, a.values.data(), a.values.size() * sizeof(float), cudaMemcpyHostToDevice));
    float *d_x = upload(x);
    float *d_y;
    CUDA_CHECK(cudaMalloc(&d_y, a.rows * sizeof(float)));

    const int threads = 256;
    std::vector<float> y(a.rows);
    bool good = true;
    spmv_scalar<<<(a.rows + threads - 1) / threads, threads>>>(d_a, d_x, d_y);
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
    good &= all_close("scalar", y.data(), expected.data(), y.size());

    CUDA_CHECK(cudaMemset(d_y, 0, y.size() * sizeof(float)));
    spmv_vector<<<(a.rows * 32 + threads - 1) / threads, threads>>>(d_a, d_x, d_y);
    CUDA_CHECK(cudaMemcpy(y.data(), d_y, y.size() * sizeof(float), cudaMemcpyDeviceToHost));
    good &= all_close("vector", y.data(), expected.data(), y.size());

    CUDA_CHECK(cudaFree(d_a.starts));
    CUDA_CHECK(cudaFree(d_a.columns));
    CUDA_CHECK(cudaFree(d_a.values));
    CUDA_CHECK(cudaFree(d_x));
    CUDA_CHECK(cudaFree(d_y));
    return good;
}

int main(int argc, char **argv)
{
    int rows = argument(argc, argv, 1, "rows", 8192);
    int entries_per_row = argument(argc, argv, 2, "entries per row", 32);
    Csr a = generate(rows, entries_per_row);
    std::vector<float> x(rows), expected(rows, 0.0f);
    Random random(102);
    for (float &value : x) {
        value = random.uniform();
    }
    for (int row = 0; row < rows; ++row) {
        for (int entry = a.starts[row]; entry < a.starts[row + 1]; ++entry) {
            expected[row] += a.values[entry] * x[a.columns[entry]];
        }
    }
    return finish("spmv", run(a, x, expected));
}
