// clock, clock64 and the global timer go forward; __nanosleep and __prof_trigger return.
#include "test.h"

__global__ void measure(long long *cycles, float *values)
{
    long long start = clock64();
    clock_t short_start = clock();
    float value = values[threadIdx.x];
    for (int i = 0; i < 100; ++i) {
        value = value * 1.0001f + 0.5f;
    }
    values[threadIdx.x] = value;
    __nanosleep(100);
    __prof_trigger(0);
    clock_t short_stop = clock();
    long long stop = clock64();
    cycles[threadIdx.x] = stop - start;
    cycles[64 + threadIdx.x] = static_cast<unsigned>(short_stop - short_start);
}

__global__ void timer(unsigned long long *times)
{
    unsigned long long first, second;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(first));
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(second));
    times[0] = first;
    times[1] = second;
}

int main()
{
    Device<long long> cycles(128);
    Device<float> values(64);
    measure<<<1, 64>>>(cycles, values);
    for (long long value : cycles.read()) {
        EXPECT(value > 0 && value < 100000000);
    }
    Device<unsigned long long> times(2);
    timer<<<1, 1>>>(times);
    std::vector<unsigned long long> got = times.read();
    EXPECT(got[1] >= got[0]);
    return done("clocks");
}
