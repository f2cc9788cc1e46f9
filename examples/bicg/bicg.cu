// The two matrix-vector products of the BiCG method: q = A·p and s = Aᵀ·r, one thread per result.
//
// Shows the two orders in which a matrix can be walked. In q each lane has a row of its own, so a
// request touches 32 places that are a row apart; in s the lanes have neighbouring columns.
// For rows and columns that are multiples of 32 and rows of at least 8 columns:
//   A in q: rows/32 · columns requests of 32 sectors (ideal 4);  p: as many, of 1 sector
//   A in s: columns/32 · rows requests of 4 sectors (ideal 4);   r: as many, of 1 sector
//   q, s:   rows/32 and columns/32 stores of 4 sectors
// Over all loads of 1024 × 1024 the distinct 128-byte lines per request are thus 1 (three quarters)
// or 32 (one quarter), the 32-byte pieces 1 (half), 4 or 32 (a quarter each).
//
// usage: bicg [rows = 1024] [columns = rows]
#include "../common/common.h"

#include <vector>

__global__ void bicg_q(const float *a, const float *p, float *q, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int column = 0; column < columns; ++column) {
            sum += a[row * columns + column] * p[column];
        }
        q[row] = sum;
    }
}

__global__ void bicg_s(const float *a, const float *r, float *s, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column < columns) {
        float sum = 0;
        for (int row = 0; row < rows; ++row) {
            sum += a[row * columns + column] * r[row];
        }
        s[column] = sum;
    }
}

struct Problem {
    int rows, columns;
    std::vector<float> a, p, r, q, s;
};

static Problem generate(int rows, int columns)
{
    Problem problem{rows, columns, {}, {}, {}, {}, {}};
    Random random(42);
    auto fill = [&](std::vector<float> &values, size_t count) {
        values.resize(count);
        for (float &value : values) {
            value = random.uniform();
        }
    };
    fill(problem.a, static_cast<size_t>(rows) * columns);
    fill(problem.p, columns);
    fill(problem.r, rows);
    problem.q.resize(rows);
    problem.s.resize(columns);
    return problem;
}

static void copy_to_device(float *destination, const std::vector<float> &values)
{
    CUDA_CHECK(cudaMemcpy(destination, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice));
}

static void solve(Problem &problem)
{
    float *d_a, *d_p, *d_r, *d_q, *d_s;
    CUDA_CHECK(cudaMalloc(&d_a, problem.a.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_p, problem.columns * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_r, problem.rows * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_q, problem.rows * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_s, problem.columns * sizeof(float)));

    copy_to_device(d_a, problem.a);
    copy_to_device(d_p, problem.p);
    copy_to_device(d_r, problem.r);

    const int threads = 256;
    Timer timer;
    bicg_q<<<(problem.rows + threads - 1) / threads, threads>>>(d_a, d_p, d_q, problem.rows, problem.columns);
    bicg_s<<<(problem.columns + threads - 1) / threads, threads>>>(d_a, d_r, d_s, problem.rows, problem.columns);
    CUDA_CHECK(cudaGetLastError());
    std::printf("%d x %d in %.3f ms\n", problem.rows, problem.columns, timer.stop());

    CUDA_CHECK(cudaMemcpy(problem.q.data(), d_q, problem.rows * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaMemcpy(problem.s.data(), d_s, problem.columns * sizeof(float), cudaMemcpyDeviceToHost));
    for (float *pointer : {d_a, d_p, d_r, d_q, d_s}) {
        CUDA_CHECK(cudaFree(pointer));
    }
}

static bool check(const Problem &problem)
{
    std::vector<float> q(problem.rows, 0.0f), s(problem.columns, 0.0f);
    for (int row = 0; row < problem.rows; ++row) {
        for (int column = 0; column < problem.columns; ++column) {
            float a = problem.a[static_cast<size_t>(row) * problem.columns + column];
            q[row] += a * problem.p[column];
            s[column] += a * problem.r[row];
        }
    }
    return all_close("q", problem.q.data(), q.data(), q.size()) && all_close("s", problem.s.data(), s.data(), s.size());
}

int main(int argc, char **argv)
{
    int rows = argument(argc, argv, 1, "rows", 1024);
    int columns = argument(argc, argv, 2, "columns", rows);
    Problem problem = generate(rows, columns);
    solve(problem);
    return finish("bicg", check(problem));
}
