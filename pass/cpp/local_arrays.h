// Loops that keep local arrays out of registers.

#pragma once

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace warpline {

// Requests complete unrolling of loops whose variable is an index of a local array, where constant indices let the array go
// to registers. nvcc unrolls such loops far beyond LLVM's threshold. To run right before LoopFullUnroll.
struct UnrollForLocalArrays : llvm::PassInfoMixin<UnrollForLocalArrays> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &, llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &);
};

} // namespace warpline
