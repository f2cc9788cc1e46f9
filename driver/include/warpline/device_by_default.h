// Included before CUDA source in which functions without an execution space are device functions.
#pragma GCC system_header
#pragma clang force_cuda_host_device begin
