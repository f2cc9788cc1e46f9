// Expands memory intrinsics as the NVPTX back end does during instruction selection. Also expands constant expressions,
// and splits edges.

#include "shim.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/LowerMemIntrinsics.h"

using namespace llvm;

bool wl_expand_memory_loop(LLVMValueRef value, LLVMTargetMachineRef machine) {
  auto *call = cast<Instruction>(llvm::unwrap(value));
  TargetTransformInfo costs =
      reinterpret_cast<TargetMachine *>(machine)->getTargetTransformInfo(*call->getFunction());
  if (auto *copy = dyn_cast<MemCpyInst>(call))
    expandMemCpyAsLoop(copy, costs);
  else if (auto *move = dyn_cast<MemMoveInst>(call)) {
    if (!expandMemMoveAsLoop(move, costs))
      return false;
  } else if (auto *set = dyn_cast<MemSetInst>(call))
    expandMemSetAsLoop(set);
  else
    return false;
  call->eraseFromParent();
  return true;
}

unsigned wl_known_alignment(LLVMValueRef pointer, LLVMValueRef at) {
  auto *instruction = cast<Instruction>(llvm::unwrap(at));
  return getKnownAlignment(llvm::unwrap(pointer), instruction->getDataLayout(), instruction).value();
}

bool wl_gathers(LLVMTargetMachineRef machine, LLVMContextRef raw) {
  LLVMContext &context = *llvm::unwrap(raw);
  Module module("probe", context);
  auto *type = FunctionType::get(Type::getVoidTy(context), false);
  auto *function = Function::Create(type, GlobalValue::ExternalLinkage, "probe", module);
  TargetTransformInfo costs = reinterpret_cast<TargetMachine *>(machine)->getTargetTransformInfo(*function);
  auto *vector = FixedVectorType::get(Type::getFloatTy(context), 8);
  return costs.isLegalMaskedGather(vector, Align(4)) && !costs.forceScalarizeMaskedGather(vector, Align(4));
}

void wl_expand_constant_users(LLVMValueRef global) {
  convertUsersOfConstantsToInstructions({cast<GlobalVariable>(llvm::unwrap(global))});
}

LLVMBasicBlockRef wl_split_normal_edge(LLVMValueRef value) {
  auto *invoke = cast<InvokeInst>(llvm::unwrap(value));
  return llvm::wrap(SplitEdge(invoke->getParent(), invoke->getNormalDest()));
}

LLVMValueRef wl_split_if(LLVMValueRef condition, LLVMValueRef before) {
  auto *instruction = cast<Instruction>(llvm::unwrap(before));
  return llvm::wrap(SplitBlockAndInsertIfThen(llvm::unwrap(condition), instruction->getIterator(), false));
}
