#include "local_arrays.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// The maximum number of instructions of the unrolled loop: the threshold of LLVM's AMDGPU back end for loops over
// private arrays.
constexpr unsigned MOST_INSTRUCTIONS = 2700;
// The maximum size of an array: a thread has 255 registers of 4 bytes.
constexpr uint64_t MOST_BYTES = 1020;
// The maximum number of uses of an array that are inspected.
constexpr unsigned MOST_USES = 4096;

// Returns whether an index becomes constant when all loops with a known trip count are unrolled.
bool becomesConstant(const SCEV *index, ScalarEvolution &evolution) {
  return !SCEVExprContains(index, [&](const SCEV *part) {
    if (isa<SCEVUnknown, SCEVCouldNotCompute>(part))
      return true;
    const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part);
    return recurrence && evolution.getSmallConstantTripCount(recurrence->getLoop()) == 0;
  });
}

bool dependsOn(const SCEV *index, const Loop &loop) {
  return SCEVExprContains(index, [&](const SCEV *part) {
    const auto *recurrence = dyn_cast<SCEVAddRecExpr>(part);
    return recurrence && recurrence->getLoop() == &loop;
  });
}

bool indicesBecomeConstant(const GetElementPtrInst &address, ScalarEvolution &evolution) {
  for (const Use &index : address.indices())
    if (!isa<ConstantInt>(index) && !becomesConstant(evolution.getSCEV(index), evolution))
      return false;
  return true;
}

// Returns whether all uses of an array disappear when its indices are constant.
bool canBeInRegisters(const AllocaInst &array, ScalarEvolution &evolution) {
  std::optional<TypeSize> bytes = array.getAllocationSize(array.getDataLayout());
  if (!array.isStaticAlloca() || !bytes || bytes->isScalable() || bytes->getFixedValue() > MOST_BYTES)
    return false;
  SmallVector<const Value *> pointers{&array};
  unsigned uses = 0;
  while (!pointers.empty()) {
    const Value *pointer = pointers.pop_back_val();
    for (const User *user : pointer->users()) {
      if (++uses > MOST_USES)
        return false;
      if (const auto *address = dyn_cast<GetElementPtrInst>(user)) {
        if (!indicesBecomeConstant(*address, evolution))
          return false;
        pointers.push_back(address);
      } else if (isa<AddrSpaceCastInst>(user)) {
        pointers.push_back(user);
      } else if (const auto *load = dyn_cast<LoadInst>(user)) {
        if (load->isVolatile())
          return false;
      } else if (const auto *store = dyn_cast<StoreInst>(user)) {
        if (store->isVolatile() || store->getValueOperand() == pointer)
          return false;
      } else if (const auto *transfer = dyn_cast<MemIntrinsic>(user)) {
        if (transfer->isVolatile() || !isa<ConstantInt>(transfer->getLength()))
          return false;
      } else if (const auto *call = dyn_cast<IntrinsicInst>(user); !call || !call->isLifetimeStartOrEnd()) {
        return false;
      }
    }
  }
  return true;
}

// Returns whether the loop's variable is an index of an array that can be in registers.
bool indexesArray(const Loop &loop, ScalarEvolution &evolution) {
  SmallPtrSet<const AllocaInst *, 8> failed;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block) {
      const auto *address = dyn_cast<GetElementPtrInst>(&instruction);
      if (!address || address->hasAllConstantIndices())
        continue;
      const auto *array = dyn_cast<AllocaInst>(getUnderlyingObject(address));
      if (!array || failed.contains(array))
        continue;
      bool varies = any_of(address->indices(), [&](const Use &index) {
        return !isa<ConstantInt>(index) && dependsOn(evolution.getSCEV(index), loop);
      });
      if (!varies)
        continue;
      if (canBeInRegisters(*array, evolution))
        return true;
      failed.insert(array);
    }
  return false;
}

} // namespace

PreservedAnalyses warpline::UnrollForLocalArrays::run(Loop &loop, LoopAnalysisManager &,
                                                      LoopStandardAnalysisResults &results, LPMUpdater &) {
  // The user's own pragmas take precedence.
  if (hasUnrollTransformation(&loop) != TM_Unspecified)
    return PreservedAnalyses::all();
  unsigned tripCount = results.SE.getSmallConstantTripCount(&loop);
  if (tripCount < 2)
    return PreservedAnalyses::all();
  uint64_t instructions = 0;
  for (const BasicBlock *block : loop.blocks())
    instructions += block->sizeWithoutDebug();
  if (instructions * tripCount > MOST_INSTRUCTIONS || !indexesArray(loop, results.SE))
    return PreservedAnalyses::all();
  addStringMetadataToLoop(&loop, "llvm.loop.unroll.full", 1);
  return PreservedAnalyses::all();
}
