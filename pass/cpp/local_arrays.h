// Unrolls loops that prevent local arrays from being kept in registers.

#pragma once

#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"

namespace warpline {

// Requests complete unrolling of loops whose variable is an index of a local array, if constant indices allow the array
// to be kept in registers. nvcc unrolls such loops far beyond LLVM's threshold. This pass must run directly before
// LoopFullUnroll.
struct UnrollForLocalArrays : llvm::PassInfoMixin<UnrollForLocalArrays> {
  llvm::PreservedAnalyses run(llvm::Loop &loop, llvm::LoopAnalysisManager &, llvm::LoopStandardAnalysisResults &results,
                              llvm::LPMUpdater &);
};

} // namespace warpline
