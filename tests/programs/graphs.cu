// Graphs: captured from streams, made by hand, run again with other parameters.
#include "test.h"

__constant__ int factor = 1;

__global__ void add(int *values, int amount)
{
    values[threadIdx.x] += amount;
}

__global__ void multiply(int *values)
{
    values[threadIdx.x] *= factor;
}

static int calls = 0;

static void count(void *data)
{
    calls += *static_cast<int *>(data);
}

static void captured()
{
    Device<int> values(32), other(32);
    std::vector<int> host(32, 5), back(32, 0);
    cudaStream_t stream, side;
    cudaEvent_t forked, joined;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamCreate(&side));
    CHECK(cudaEventCreate(&forked));
    CHECK(cudaEventCreate(&joined));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamIsCapturing(stream, &status));
    EXPECT(status == cudaStreamCaptureStatusActive);
    CHECK(cudaMemcpyAsync(values, host.data(), 128, cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(forked, stream));
    CHECK(cudaStreamWaitEvent(side, forked, 0));
    CHECK(cudaMemsetAsync(other, 0, 128, side));
    add<<<1, 32, 0, side>>>(other, 7);
    CHECK(cudaEventRecord(joined, side));
    add<<<1, 32, 0, stream>>>(values, 3);
    CHECK(cudaStreamWaitEvent(stream, joined, 0));
    CHECK(cudaMemcpyAsync(back.data(), values, 128, cudaMemcpyDeviceToHost, stream));
    int one = 1;
    CHECK(cudaLaunchHostFunc(stream, count, &one));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    // Nothing has run yet.
    EXPECT(back[0] == 0 && calls == 0 && other.read()[0] == 0);
    size_t nodes = 0, roots = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(nodes == 6 && roots == 1);
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int round = 0; round < 3; ++round) {
        host.assign(32, round);
        CHECK(cudaGraphLaunch(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        EXPECT(back[31] == round + 3 && calls == round + 1 && other.read()[31] == 7);
    }
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaEventDestroy(forked));
    CHECK(cudaEventDestroy(joined));
    CHECK(cudaStreamDestroy(side));
    EXPECT_ERROR(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    cudaGetLastError();
    CHECK(cudaStreamDestroy(stream));
}

static void by_hand()
{
    Device<int> values(32);
    std::vector<int> back(32, 0);
    int three = 3, amount = 4;
    int *pointer = values;
    void *add_arguments[] = {&pointer, &amount}, *multiply_arguments[] = {&pointer};
    cudaGraph_t graph, child;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t fill, set, join, out, call, inner, nested;
    cudaMemsetParams fills = {pointer, 0, 10, 4, 32, 1};
    CHECK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fills));
    CHECK(cudaGraphAddMemcpyNodeToSymbol(&set, graph, nullptr, 0, factor, &three, sizeof(int), 0,
                                         cudaMemcpyHostToDevice));
    cudaGraphNode_t both[] = {fill, set};
    CHECK(cudaGraphAddEmptyNode(&join, graph, both, 2));
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(add);
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = add_arguments;
    CHECK(cudaGraphAddKernelNode(&inner, child, nullptr, 0, &kernel));
    cudaGraphNode_t times;
    kernel.func = reinterpret_cast<void *>(multiply);
    kernel.kernelParams = multiply_arguments;
    // Added before what it depends on is known.
    CHECK(cudaGraphAddKernelNode(&times, graph, nullptr, 0, &kernel));
    CHECK(cudaGraphAddChildGraphNode(&nested, graph, &join, 1, child));
    CHECK(cudaGraphAddDependencies(graph, &nested, &times, nullptr, 1));
    CHECK(cudaGraphAddMemcpyNode1D(&out, graph, &times, 1, back.data(), values, 128, cudaMemcpyDeviceToHost));
    int ten = 10;
    cudaHostNodeParams function = {count, &ten};
    CHECK(cudaGraphAddHostNode(&call, graph, &out, 1, &function));
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(nested, &type));
    EXPECT(type == cudaGraphNodeTypeGraph);
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    calls = 0;
    CHECK(cudaGraphLaunch(executable, 0));
    CHECK(cudaDeviceSynchronize());
    // 10, plus 4, times 3.
    EXPECT(back[0] == 42 && back[31] == 42 && calls == 10);
    fills.value = 1;
    CHECK(cudaGraphExecMemsetNodeSetParams(executable, fill, &fills));
    CHECK(cudaGraphNodeSetEnabled(executable, times, 0));
    CHECK(cudaGraphLaunch(executable, 0));
    EXPECT(back[7] == 5 && calls == 20);
    cudaGraph_t copy;
    CHECK(cudaGraphClone(&copy, graph));
    cudaGraphNode_t copied;
    CHECK(cudaGraphNodeFindInClone(&copied, times, copy));
    kernel.func = reinterpret_cast<void *>(add);
    kernel.kernelParams = add_arguments;
    amount = 100;
    CHECK(cudaGraphKernelNodeSetParams(copied, &kernel));
    cudaGraphExecUpdateResultInfo result;
    CHECK(cudaGraphExecUpdate(executable, copy, &result));
    CHECK(cudaGraphNodeSetEnabled(executable, times, 1));
    CHECK(cudaGraphLaunch(executable, 0));
    EXPECT(back[0] == 114);
    // A circle.
    CHECK(cudaGraphAddDependencies(graph, &call, &fill, nullptr, 1));
    cudaGraphExec_t none;
    EXPECT_ERROR(cudaGraphInstantiate(&none, graph, 0), cudaErrorInvalidValue);
    cudaGetLastError();
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(copy));
    CHECK(cudaGraphDestroy(child));
    CHECK(cudaGraphDestroy(graph));
}

__global__ void gather(const int *values, int *sum)
{
    atomicAdd(sum, values[threadIdx.x]);
}

__global__ void number(int *values)
{
    values[threadIdx.x] = threadIdx.x;
}

// Memory that a graph allocates for itself, captured and by hand.
static void with_memory()
{
    Device<int> sum(std::vector<int>{0});
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    int *scratch = nullptr;
    CHECK(cudaMallocAsync(&scratch, 128, stream));
    number<<<1, 32, 0, stream>>>(scratch);
    gather<<<1, 32, 0, stream>>>(scratch, sum);
    CHECK(cudaFreeAsync(scratch, stream));
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    size_t nodes = 0;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    expect_equal("nodes", nodes, size_t(4));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect_equal("captured", sum.read()[0], 2 * 31 * 16);

    cudaGraph_t made;
    CHECK(cudaGraphCreate(&made, 0));
    cudaMemAllocNodeParams parameters = {};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location.type = cudaMemLocationTypeDevice;
    parameters.bytesize = 128;
    cudaGraphNode_t allocation, kernels[2], copy, end;
    CHECK(cudaGraphAddMemAllocNode(&allocation, made, nullptr, 0, &parameters));
    EXPECT(parameters.dptr != nullptr);
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(allocation, &type));
    EXPECT(type == cudaGraphNodeTypeMemAlloc);
    void *arguments[] = {&parameters.dptr};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(number);
    kernel.gridDim = 1;
    kernel.blockDim = 32;
    kernel.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&kernels[0], made, &allocation, 1, &kernel));
    std::vector<int> back(32, -1), want(32);
    for (int i = 0; i < 32; ++i) {
        want[i] = i;
    }
    CHECK(cudaGraphAddMemcpyNode1D(&copy, made, kernels, 1, back.data(), parameters.dptr, 128, cudaMemcpyDeviceToHost));
    CHECK(cudaGraphAddMemFreeNode(&end, made, &copy, 1, parameters.dptr));
    void *freed = nullptr;
    CHECK(cudaGraphMemFreeNodeGetParams(end, &freed));
    EXPECT(freed == parameters.dptr);
    EXPECT_ERROR(cudaGraphAddMemFreeNode(&end, made, &copy, 1, back.data()), cudaErrorInvalidValue);
    CHECK(cudaGraphInstantiate(&executable, made, 0));
    CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    expect_equal("by hand", back, want);
    CHECK(cudaDeviceGraphMemTrim(0));
}

int main()
{
    captured();
    by_hand();
    with_memory();
    return done("graphs");
}
