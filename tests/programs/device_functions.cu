// Device functions that survive inlining: plain, recursive, through pointers and tables, virtual, with
// structs and pointers as arguments and results.
#include "test.h"

struct Pair {
    double first;
    int second;
};

__device__ __noinline__ Pair combine(Pair a, const Pair &b, int scale)
{
    return {a.first + b.first * scale, a.second - b.second};
}

__device__ __noinline__ void swap_both(int *a, int *b)
{
    int c = *a;
    *a = *b;
    *b = c;
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ bool is_odd(int n);
__device__ __noinline__ bool is_even(int n)
{
    return n == 0 || is_odd(n - 1);
}
__device__ __noinline__ bool is_odd(int n)
{
    return n != 0 && is_even(n - 1);
}

// Recursion with an array of its own at each depth.
__device__ __noinline__ int digits(int n, int *out, int depth)
{
    int local[4] = {n % 10, depth, n, 0};
    if (n >= 10) {
        local[3] = digits(n / 10, out, depth + 1);
    }
    out[depth] = local[depth % 3];
    return local[3] + local[0];
}

__global__ void plain(Pair *pairs, int *numbers)
{
    int i = threadIdx.x;
    Pair a{0.5 * i, i}, b{1.0, 100};
    if (i % 3 != 0) {
        a = combine(a, b, i);
    }
    pairs[i] = combine(b, a, 2);
    int left = i, right = -i;
    if (i & 1) {
        swap_both(&left, &right);
    }
    numbers[i] = left;
    swap_both(&numbers[64 + 2 * i], &numbers[64 + 2 * i + 1]);
}

__global__ void recursive(int *results, int *out)
{
    int i = threadIdx.x;
    results[i] = fibonacci(i % 11);
    results[32 + i] = is_even(i * 3) ? 1 : 0;
    results[64 + i] = digits(i * i * i, out + 8 * i, 0);
}

using Operation = int (*)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int multiply(int a, int b) { return a * b; }
__device__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int greater(int a, int b)
{
    if (a > b) {
        return a;
    }
    return b;
}
__device__ Operation operations[4] = {add, multiply, subtract, greater};
__constant__ Operation c_operations[2] = {subtract, add};
__device__ Operation chosen = multiply;

__global__ void through_pointers(const int *which, int *results, Operation given)
{
    int i = threadIdx.x;
    results[i] = operations[which[i]](i, 7);
    results[64 + i] = c_operations[i % 2](100, i);
    results[128 + i] = given(chosen(i, 3), 1);
    Operation local = i < 20 ? add : greater;
    results[192 + i] = local(i, 30);
}

class Shape {
public:
    __device__ virtual ~Shape() {}
    __device__ virtual float area() const = 0;
    __device__ virtual int corners() const { return 0; }
};

class Box : public Shape {
public:
    __device__ Box(float width, float height) : width_(width), height_(height) {}
    __device__ float area() const override { return width_ * height_; }
    __device__ int corners() const override { return 4; }

private:
    float width_, height_;
};

class Disc : public Shape {
public:
    __device__ explicit Disc(float radius) : radius_(radius) {}
    __device__ float area() const override { return 3.0f * radius_ * radius_; }

private:
    float radius_;
};

// Objects with virtual functions must be made on the device.
union Storage {
    __device__ Storage() {}
    __device__ ~Storage() {}
    Box box;
    Disc disc;
};

__global__ void make_shapes(Storage *storage, Shape **shapes)
{
    int i = threadIdx.x;
    if (i % 3 == 0) {
        shapes[i] = new (&storage[i].disc) Disc(static_cast<float>(i));
    } else {
        shapes[i] = new (&storage[i].box) Box(static_cast<float>(i), 2.0f);
    }
}

__global__ void measure(Shape *const *shapes, float *areas, int *corners)
{
    int i = threadIdx.x;
    areas[i] = shapes[i]->area();
    corners[i] = shapes[i]->corners();
}

int main()
{
    std::vector<int> numbers(128);
    for (int i = 0; i < 128; ++i) {
        numbers[i] = i;
    }
    Device<Pair> pairs(32);
    Device<int> d_numbers(numbers);
    plain<<<1, 32>>>(pairs, d_numbers);
    std::vector<Pair> got = pairs.read();
    for (int i = 0; i < 32; ++i) {
        double first = 0.5 * i + (i % 3 ? i : 0);
        int second = i - (i % 3 ? 100 : 0);
        EXPECT(got[i].first == 1.0 + 2 * first && got[i].second == 100 - second);
        numbers[i] = i & 1 ? -i : i;
        std::swap(numbers[64 + 2 * i], numbers[64 + 2 * i + 1]);
    }
    expect_equal("numbers", d_numbers.read(), numbers);

    Device<int> results(96), out(256);
    recursive<<<1, 32>>>(results, out);
    std::vector<int> want(96);
    const int first_numbers[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55};
    for (int i = 0; i < 32; ++i) {
        want[i] = first_numbers[i % 11];
        want[32 + i] = i * 3 % 2 == 0;
        for (int n = i * i * i; n > 0; n /= 10) {
            want[64 + i] += n % 10;
        }
    }
    expect_equal("recursive", results.read(), want);

    std::vector<int> which(64), want_pointers(256);
    for (int i = 0; i < 64; ++i) {
        which[i] = (i * 5 / 3) % 4;
        const int by_kind[] = {i + 7, i * 7, i - 7, std::max(i, 7)};
        want_pointers[i] = by_kind[which[i]];
        want_pointers[64 + i] = i % 2 ? 100 + i : 100 - i;
        want_pointers[128 + i] = i * 3 - 1;
        want_pointers[192 + i] = i < 20 ? i + 30 : std::max(i, 30);
    }
    Operation table[4];
    CHECK(cudaMemcpyFromSymbol(table, operations, sizeof table));
    Device<int> d_which(which), d_results(256);
    through_pointers<<<1, 64>>>(d_which, d_results, table[2]);
    expect_equal("pointers", d_results.read(), want_pointers);

    void *storage;
    CHECK(cudaMalloc(&storage, 40 * 64));
    Device<Shape *> shapes(40);
    Device<float> areas(40);
    Device<int> corners(40);
    make_shapes<<<1, 40>>>(static_cast<Storage *>(storage), shapes);
    measure<<<1, 40>>>(shapes, areas, corners);
    std::vector<float> want_areas(40);
    std::vector<int> want_corners(40);
    for (int i = 0; i < 40; ++i) {
        want_areas[i] = i % 3 == 0 ? 3.0f * i * i : 2.0f * i;
        want_corners[i] = i % 3 == 0 ? 0 : 4;
    }
    expect_equal("areas", areas.read(), want_areas);
    expect_equal("corners", corners.read(), want_corners);
    CHECK(cudaFree(storage));
    return done("device_functions");
}
