// Small objects that are copied, changed in some of their members and copied back: each copy is one access as wide as the
// object's alignment lets it be, and nothing lies in local memory. Behind each line with accesses stand their requests, lanes and sectors.
#include "test.h"

__global__ void one(const float4 *in, float4 *out)
{
    float4 v = in[threadIdx.x]; // sites load 2 64 32
    v.x += 1;
    out[threadIdx.x] = v; // sites store 2 64 32
}

__global__ void two(const float4 *in, float4 *out)
{
    float4 v = in[threadIdx.x]; // sites load 2 64 32
    v.x += 1;
    v.y *= 2;
    out[threadIdx.x] = v; // sites store 2 64 32
}

__global__ void last(const int4 *in, int4 *out, int n)
{
    int4 v = in[threadIdx.x]; // sites load 2 64 32
    if (threadIdx.x < n) {
        v.w = n;
    }
    out[threadIdx.x] = v; // sites store 2 64 32
}

__global__ void doubles(const double2 *in, double2 *out)
{
    double2 v = in[threadIdx.x]; // sites load 2 64 32
    v.y = -v.y;
    out[threadIdx.x] = v; // sites store 2 64 32
}

__global__ void bytes(const uchar4 *in, uchar4 *out)
{
    uchar4 v = in[threadIdx.x]; // sites load 2 64 8
    v.z = 255 - v.z;
    out[threadIdx.x] = v; // sites store 2 64 8
}

// Its alignment is that of a float.
struct Point {
    float x, y, z;
};

__global__ void points(const Point *in, Point *out)
{
    Point v = in[threadIdx.x]; // sites load 2 64 24, load 2 64 24, load 2 64 24
    v.y += 1;
    out[threadIdx.x] = v; // sites store 2 64 24, store 2 64 24, store 2 64 24
}

template <typename T, typename Kernel, typename Change>
void check(const char *what, Kernel kernel, Change change)
{
    std::vector<T> in(64), want(64);
    unsigned char *filled = reinterpret_cast<unsigned char *>(in.data());
    for (size_t i = 0; i < in.size() * sizeof(T); ++i) {
        filled[i] = i % 4 == 3 ? 64 : static_cast<unsigned char>(7 * i);
    }
    for (int i = 0; i < 64; ++i) {
        want[i] = in[i];
        change(want[i], i);
    }
    Device<T> from(in), to(64);
    kernel(from, to);
    std::vector<T> got = to.read();
    EXPECT(std::memcmp(got.data(), want.data(), 64 * sizeof(T)) == 0);
    if (std::memcmp(got.data(), want.data(), 64 * sizeof(T)) != 0) {
        std::fprintf(stderr, "%s\n", what);
    }
}

int main()
{
    check<float4>("one", [](auto &from, auto &to) { one<<<1, 64>>>(from, to); }, [](float4 &v, int) { v.x += 1; });
    check<float4>("two", [](auto &from, auto &to) { two<<<1, 64>>>(from, to); }, [](float4 &v, int) { v.x += 1, v.y *= 2; });
    check<int4>("last", [](auto &from, auto &to) { last<<<1, 64>>>(from, to, 40); }, [](int4 &v, int i) { v.w = i < 40 ? 40 : v.w; });
    check<double2>("doubles", [](auto &from, auto &to) { doubles<<<1, 64>>>(from, to); }, [](double2 &v, int) { v.y = -v.y; });
    check<uchar4>("bytes", [](auto &from, auto &to) { bytes<<<1, 64>>>(from, to); }, [](uchar4 &v, int) { v.z = 255 - v.z; });
    check<Point>("points", [](auto &from, auto &to) { points<<<1, 64>>>(from, to); }, [](Point &v, int) { v.y += 1; });
    return done("changed_members");
}
