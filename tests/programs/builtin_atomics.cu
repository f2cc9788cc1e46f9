// flags: -arch=sm_80
// nvcc's built-in atomic functions, with and without a scope.
#include "test.h"

__global__ void update(int *p, unsigned long long *q, float *f)
{
    int i = threadIdx.x;
    int seen = __nv_atomic_load_n(p, __NV_ATOMIC_RELAXED);
    __nv_atomic_store_n(p + 1, seen + 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_fetch_add(q, 2ull, __NV_ATOMIC_RELAXED);
    __nv_atomic_add(f, 1.5f, __NV_ATOMIC_RELAXED);
    __nv_atomic_max(p + 2, i, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
    int expected = 0;
    if (!__nv_atomic_compare_exchange_n(p + 3, &expected, i + 1, false, __NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE)) {
        // Another thread was first.
        __nv_atomic_fetch_add(p + 4, expected == 0 ? 1000 : 1, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    }
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
}

int main()
{
    Device<int> p(5);
    Device<unsigned long long> q(1);
    Device<float> f(1);
    update<<<1, 64>>>(p, q, f);
    std::vector<int> got = p.read();
    EXPECT(got[3] >= 1 && got[3] <= 64);
    got[3] = 0;
    expect_equal("integers", got, std::vector<int>{0, 1, 63, 0, 63});
    expect_equal("long", q.read(), std::vector<unsigned long long>{128});
    expect_equal("float", f.read(), std::vector<float>{96});
    return done("builtin_atomics");
}
