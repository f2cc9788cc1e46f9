// The kernels of the speed programs as OpenCL C, for an OpenCL runtime on the CPU such as PoCL.
//   opencl PROGRAM ROUNDS      prints the shortest time of one run in seconds, as the other programs do
// Sizes, blocks and inputs are those of the CUDA programs. Limited to one thread by the caller (POCL_MAX_PTHREAD_COUNT).
#define CL_TARGET_OPENCL_VERSION 120
#include "bench.h"

#include <CL/cl.h>
#include <cstring>
#include <string>

static const char *SOURCE = R"(
kernel void saxpy(int n, float a, global const float *x, global float *y)
{
    int i = get_global_id(0);
    if (i < n) y[i] = a * x[i] + y[i];
}
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void multiply(int n, global const float *a, global const float *b, global float *c)
{
    local float a_tile[16][16], b_tile[16][16];
    int tx = get_local_id(0), ty = get_local_id(1);
    int row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    for (int start = 0; start < n; start += 16) {
        a_tile[ty][tx] = a[row * n + start + tx];
        b_tile[ty][tx] = b[(start + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < 16; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
kernel void transpose(int n, global const float *from, global float *to)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n) to[x * n + y] = from[y * n + x];
}
kernel void stencil(int n, global const float *from, global float *to)
{
    int x = get_global_id(0), y = get_global_id(1);
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        int i = y * n + x;
        to[i] = 0.2f * (from[i] + from[i - 1] + from[i + 1] + from[i - n] + from[i + n]);
    }
}
kernel void spmv(int rows, global const int *start, global const int *columns, global const float *values,
                 global const float *x, global float *y)
{
    int row = get_global_id(0);
    if (row < rows) {
        float sum = 0;
        for (int i = start[row]; i < start[row + 1]; ++i) sum += values[i] * x[columns[i]];
        y[row] = sum;
    }
}
kernel void forces(int n, global const float *px, global const float *py, global const float *pz, global float *ax)
{
    int i = get_global_id(0);
    if (i < n) {
        float x = px[i], y = py[i], z = pz[i], sum = 0;
        for (int j = 0; j < n; ++j) {
            float dx = px[j] - x, dy = py[j] - y, dz = pz[j] - z;
            float square = dx * dx + dy * dy + dz * dz + 0.01f;
            float inverse = 1.0f / sqrt(square);
            sum += dx * inverse * inverse * inverse;
        }
        ax[i] = sum;
    }
}
)";

static void need(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        std::fprintf(stderr, "%s: OpenCL error %d\n", what, code);
        std::exit(1);
    }
}

struct Device {
    cl_context context;
    cl_command_queue queue;
    cl_program program;

    Device()
    {
        cl_platform_id platform;
        cl_device_id device;
        cl_int code;
        need(clGetPlatformIDs(1, &platform, nullptr), "no platform");
        need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr), "no CPU device");
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        need(code, "context");
        queue = clCreateCommandQueue(context, device, 0, &code);
        need(code, "queue");
        program = clCreateProgramWithSource(context, 1, &SOURCE, nullptr, &code);
        need(code, "program");
        need(clBuildProgram(program, 1, &device, "-cl-fast-relaxed-math", nullptr, nullptr), "build");
    }

    template <class T>
    cl_mem buffer(std::vector<T> &values)
    {
        cl_int code;
        cl_mem place = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, values.size() * sizeof(T),
                                      values.data(), &code);
        need(code, "buffer");
        return place;
    }

    // Sets the arguments, runs the kernel the given number of times, and reads the result.
    template <class... Arguments>
    void run(const char *name, int rounds, std::vector<size_t> grid, std::vector<size_t> block, cl_mem result,
             std::vector<float> &into, Arguments... arguments)
    {
        cl_int code;
        cl_kernel kernel = clCreateKernel(program, name, &code);
        need(code, name);
        cl_uint index = 0;
        ((need(clSetKernelArg(kernel, index, sizeof(arguments), &arguments), "argument"), ++index), ...);
        measure(rounds, [&] {
            need(clEnqueueNDRangeKernel(queue, kernel, static_cast<cl_uint>(grid.size()), nullptr, grid.data(),
                                        block.data(), 0, nullptr, nullptr),
                 "launch");
            need(clFinish(queue), "finish");
        });
        need(clEnqueueReadBuffer(queue, result, CL_TRUE, 0, into.size() * sizeof(float), into.data(), 0, nullptr,
                                 nullptr),
             "read");
        checksum(into);
    }
};

static std::vector<float> numbers(int count, int step, int first)
{
    std::vector<float> values(count);
    for (int i = 0; i < count; ++i) {
        values[i] = number(step * i + first);
    }
    return values;
}

int main(int argc, char **argv)
{
    const std::string program = argc > 1 ? argv[1] : "";
    const int times = argc > 2 ? std::atoi(argv[2]) : 3;
    Device device;
    if (program == "saxpy") {
        const int n = 1 << 22;
        auto x = numbers(n, 1, 0), y = numbers(n, 1, n);
        cl_mem dx = device.buffer(x), dy = device.buffer(y);
        device.run("saxpy", times, {static_cast<size_t>(n)}, {256}, dy, y, n, 0.5f, dx, dy);
    } else if (program == "matmul") {
        const int n = 512;
        auto a = numbers(n * n, 1, 0), b = numbers(n * n, 1, n * n);
        std::vector<float> c(n * n);
        cl_mem da = device.buffer(a), db = device.buffer(b), dc = device.buffer(c);
        device.run("multiply", times, {n, n}, {16, 16}, dc, c, n, da, db, dc);
    } else if (program == "transpose" || program == "stencil") {
        const int n = 2048;
        auto from = numbers(n * n, 1, 0);
        std::vector<float> to(n * n);
        cl_mem dfrom = device.buffer(from), dto = device.buffer(to);
        device.run(program.c_str(), times, {n, n}, {32, 8}, dto, to, n, dfrom, dto);
    } else if (program == "spmv") {
        const int rows = 1 << 16, entries = 32;
        std::vector<int> start(rows + 1), columns(rows * entries);
        for (int row = 0; row <= rows; ++row) {
            start[row] = row * entries;
        }
        for (int i = 0; i < rows * entries; ++i) {
            columns[i] = static_cast<int>(number(i) * rows);
        }
        auto values = numbers(rows * entries, 1, 7), x = numbers(rows, 1, 0);
        std::vector<float> y(rows);
        cl_mem dstart = device.buffer(start), dcolumns = device.buffer(columns), dvalues = device.buffer(values);
        cl_mem dx = device.buffer(x), dy = device.buffer(y);
        device.run("spmv", times, {rows}, {128}, dy, y, rows, dstart, dcolumns, dvalues, dx, dy);
    } else if (program == "nbody") {
        const int n = 4096;
        auto x = numbers(n, 3, 0), y = numbers(n, 3, 1), z = numbers(n, 3, 2);
        std::vector<float> a(n);
        cl_mem dx = device.buffer(x), dy = device.buffer(y), dz = device.buffer(z), da = device.buffer(a);
        device.run("forces", times, {n}, {128}, da, a, n, dx, dy, dz, da);
    } else {
        std::fprintf(stderr, "no such program: %s\n", program.c_str());
        return 1;
    }
}
