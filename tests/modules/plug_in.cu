// A plug-in with a kernel: the sum of the numbers below n.
__global__ void fill(int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = i;
    }
}

extern "C" int sum_below(int n) {
    int *numbers;
    int *copied = new int[n];
    cudaMalloc(&numbers, n * sizeof(int));
    fill<<<(n + 127) / 128, 128>>>(numbers, n);
    cudaMemcpy(copied, numbers, n * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(numbers);
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        sum += copied[i];
    }
    delete[] copied;
    return sum;
}
