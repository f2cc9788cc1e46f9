// A library keeps structures of the user's in memory of its own (docs/design/findings.md).
#include <cstdio>
#include <thrust/device_vector.h>
#include <thrust/transform_reduce.h>

struct Moments {
    float count = 0, mean = 0, second = 0, third = 0, fourth = 0;
};

struct Single {
    __host__ __device__ Moments operator()(float value) const {
        Moments moments;
        moments.count = 1;
        moments.mean = value;
        return moments;
    }
};

struct Join {
    __host__ __device__ Moments operator()(const Moments &one, const Moments &other) const {
        Moments sum;
        sum.count = one.count + other.count;
        sum.mean = one.mean + other.mean;
        sum.second = one.second + other.second + one.mean * other.count;
        sum.third = one.third + other.third + one.second * other.count;
        sum.fourth = one.fourth + other.fourth + one.third * other.count;
        return sum;
    }
};

int main() {
    thrust::device_vector<float> values(200000, 1.0f);
    Moments sum = thrust::transform_reduce(values.begin(), values.end(), Single(), Moments(), Join());
    std::printf("%f\n", sum.fourth);
}
