// A graph captured from a stream, launched several times, given other parameters, updated from another capture, and
// launched next to ordinary launches; checks its own results.
#include <cstdio>
#include <vector>

__global__ void scale(float* values, int count, float factor) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) values[i] *= factor;
}

__global__ void add(const float* from, float* to, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] += from[i];
}

int failed = 0;

void sure(cudaError_t code, const char* what) {
    if (code != cudaSuccess) {
        printf("graphs: %s: %s\n", what, cudaGetErrorString(code));
        failed = 1;
    }
}

const int count = 1 << 16;

cudaGraph_t capture(cudaStream_t stream, float* values, float* sum, float factor) {
    cudaGraph_t graph = nullptr;
    sure(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin of capture");
    scale<<<64, 256, 0, stream>>>(values, count, factor);
    add<<<32, 128, 0, stream>>>(values, sum, count);
    sure(cudaStreamEndCapture(stream, &graph), "end of capture");
    return graph;
}

int main() {
    std::vector<float> host(count), result(count);
    for (int i = 0; i < count; i++) host[i] = (float)(i % 64);
    float *values, *sum;
    cudaMalloc(&values, count * sizeof(float));
    cudaMalloc(&sum, count * sizeof(float));
    cudaMemcpy(values, host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemset(sum, 0, count * sizeof(float));
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaGraph_t graph = capture(stream, values, sum, 2.0f), other = capture(stream, values, sum, 1.0f);
    // Queries of the program's graph return what it put in.
    cudaGraphNode_t nodes[8];
    size_t number = 8;
    sure(cudaGraphGetNodes(graph, nodes, &number), "nodes");
    if (number != 2) printf("graphs: %zu nodes\n", number), failed = 1;
    cudaGraphExec_t executable = nullptr;
    sure(cudaGraphInstantiate(&executable, graph, 0), "instantiation");
    // 2, 4, 8: the sum is 14 times the values.
    for (int i = 0; i < 3; i++) sure(cudaGraphLaunch(executable, stream), "launch");
    scale<<<64, 256, 0, stream>>>(values, count, 0.25f);
    // Factor 1: 2 and 2.
    cudaGraphExecUpdateResultInfo updated;
    sure(cudaGraphExecUpdate(executable, other, &updated), "update");
    for (int i = 0; i < 2; i++) sure(cudaGraphLaunch(executable, stream), "launch after update");
    sure(cudaGraphExecDestroy(executable), "destruction");
    // Factor 0.5 by the parameters of the node that scales: 1, 0.5.
    sure(cudaGraphInstantiate(&executable, graph, 0), "instantiation");
    // The node that comes after none is the one that scales.
    cudaGraphNode_t root;
    size_t one = 1;
    sure(cudaGraphGetRootNodes(graph, &root, &one), "root");
    float* place = values;
    int size = count;
    float factor = 0.5f;
    void* arguments[] = {&place, &size, &factor};
    cudaKernelNodeParams parameters = {};
    parameters.func = (void*)scale;
    parameters.gridDim = dim3(64);
    parameters.blockDim = dim3(256);
    parameters.kernelParams = arguments;
    sure(cudaGraphExecKernelNodeSetParams(executable, root, &parameters), "parameters");
    for (int i = 0; i < 2; i++) sure(cudaGraphLaunch(executable, stream), "launch with other parameters");
    sure(cudaStreamSynchronize(stream), "the kernels");
    sure(cudaGraphExecDestroy(executable), "destruction");
    sure(cudaGraphDestroy(graph), "destruction");
    sure(cudaGraphDestroy(other), "destruction");
    cudaMemcpy(result.data(), sum, count * sizeof(float), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < count; i++) wrong += result[i] != 19.5f * host[i];
    printf("graphs: %s\n", wrong == 0 && !failed ? "ok" : "WRONG");
    return wrong != 0 || failed;
}
