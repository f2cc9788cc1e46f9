// Classes with virtual functions and destructors, made and deleted on the device. No header but what nvcc needs: clang's own
// forms of new and delete are in one that few programs include.
#include <cstdio>
#include <cuda_runtime.h>

struct Shape {
    __device__ virtual int area(int scale) const = 0;
    __device__ virtual ~Shape() {}
};

struct Square : Shape {
    int side;
    __device__ explicit Square(int side) : side(side) {}
    __device__ int area(int scale) const override { return side * side * scale; }
};

__device__ int gone;

struct Counted : Square {
    __device__ explicit Counted(int side) : Square(side) {}
    __device__ ~Counted() override { atomicAdd(&gone, side); }
};

__global__ void make(Shape **shapes) { shapes[threadIdx.x] = threadIdx.x % 2 ? new Square(threadIdx.x) : new Counted(threadIdx.x); }

__global__ void measure(Shape *const *shapes, int *out) { out[threadIdx.x] = shapes[threadIdx.x]->area(3); }

__global__ void remove(Shape **shapes) { delete shapes[threadIdx.x]; }

int main()
{
    Shape **shapes;
    int *out;
    cudaMalloc(&shapes, 64 * sizeof *shapes);
    cudaMallocManaged(&out, 64 * sizeof *out);
    make<<<1, 64>>>(shapes);
    measure<<<1, 64>>>(shapes, out);
    remove<<<1, 64>>>(shapes);
    int sides = 0, want = 0;
    cudaError_t error = cudaMemcpyFromSymbol(&sides, gone, sizeof sides);
    for (int i = 0; i < 64; ++i) {
        want += i % 2 ? 0 : i;
        if (out[i] != 3 * i * i) {
            std::fprintf(stderr, "area %d is %d\n", i, out[i]);
            return 1;
        }
    }
    if (error != cudaSuccess || sides != want) {
        std::fprintf(stderr, "%s, %d instead of %d\n", cudaGetErrorName(error), sides, want);
        return 1;
    }
    std::puts("PASS virtual_functions");
}
