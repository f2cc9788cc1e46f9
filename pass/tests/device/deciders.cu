// What decides over branches, and what atomic operations do: by the code, whatever its names are.
#include "cuda.h"

extern "C" __device__ void one(int);
extern "C" __device__ void other(int);

__device__ __noinline__ void callee(int n) {
    if (n > 3) one(1);
}

// CHECK-DAG: branch [[#]] _Z7bordersPKiii 2 sides at {{.*}} deciders.cu:[[# @LINE + 3]]:{{[0-9]+}} by Thread{{$}}
__global__ void borders(const int *kind, int n, int step) {
    int banana = BX * BLOCK + TX;
    if (banana >= n) return;
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Thread, Alternation{{$}}
    if (banana % 3 == 1) one(2);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Thread, Alternation{{$}}
    if ((TX & step) == 0) one(3);
    // Its warp's number and its lane's.
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Thread{{$}}
    if (TX % 32 < 5) one(4);
    // The first thread of a block, which the compiler tests by one comparison.
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Thread{{$}}
    if (TX == 0 && __nvvm_read_ptx_sreg_tid_y() == 0) one(8);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Data{{$}}
    if (kind[banana] == 1) one(5);
    // The same element for all.
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by nothing of a lane's own{{$}}
    if (kind[n] == 1) one(6);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by Thread, Computed{{$}}
    if (banana * 0.5f > 7.0f) one(7);
    callee(banana);
}

// CHECK-DAG: branch {{.*}} deciders.cu:8:{{[0-9]+}} by Call{{$}}

// CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 2]]:{{[0-9]+}} by Data; ends a loop{{$}}
__global__ void lists(const int *row, float *sums) {
    for (int i = row[TX]; i < row[TX + 1]; ++i) other(i);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 2]]:{{[0-9]+}} by Thread; ends a loop{{$}}
    unsigned elements = row[0];
    for (unsigned k = TX; k < elements; k += BLOCK) other(k);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 2]]:{{[0-9]+}} by Thread, {{.*}}Computed; ends a loop{{$}}
    unsigned walk = TX;
    while (walk != 1) { walk = walk % 2 ? 3 * walk + 1 : walk / 2; other(walk); }
}

__global__ void places(int *top, unsigned *lock, unsigned *old) {
    __atomic_fetch_add(top, -1, __ATOMIC_RELAXED);
    __atomic_fetch_add(top + TX, 2, __ATOMIC_RELAXED);
    unsigned zero = 0, was = old[TX];
    __atomic_compare_exchange_n(lock, &zero, 1u, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    // CHECK-DAG: branch {{.*}} deciders.cu:[[# @LINE + 1]]:{{[0-9]+}} by {{.*}}Attempt{{.*}}
    while (!__atomic_compare_exchange_n(old, &was, was + 3, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) other(1);
}

// CHECK-DAG: atomic operation of site [[#]] Subtract
// CHECK-DAG: atomic operation of site [[#]] Combine
// CHECK-DAG: atomic operation of site [[#]] Lock
// CHECK-DAG: atomic operation of site [[#]] Attempt
