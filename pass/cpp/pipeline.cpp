// Runs pass pipelines and preserves the location notes while the passes run.

#include "distinct_atomics.h"
#include "local_arrays.h"
#include "location_note.h"
#include "shim.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>

using namespace llvm;

namespace {

TargetMachine *unwrap(LLVMTargetMachineRef machine) { return reinterpret_cast<TargetMachine *>(machine); }

char *copy(const std::string &text) { return strdup(text.c_str()); }

bool touchesMemory(const Instruction &instruction) {
  if (isa<LoadInst, StoreInst, AtomicRMWInst, AtomicCmpXchgInst>(instruction))
    return true;
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call && !isa<DbgInfoIntrinsic>(call) && !call->isLifetimeStartOrEnd() && call->mayReadOrWriteMemory();
}

// Keeps a `!warpline.loc` note in addition to every location. Before each pass, the notes are updated to the current
// locations, so that they contain the inlined-at chain, which a note made before inlining cannot contain. A pass may
// remove both the location and the note of an instruction, or the column (when it merges two accesses). After the pass,
// such an instruction gets its previous location in `!warpline.near`.
class Notes {
public:
  explicit Notes(LLVMContext &context)
      : note(context.getMDKindID("warpline.loc")), near(context.getMDKindID("warpline.near")), atomics(context, note) {}

  void before(Any unit) {
    if (Function *function = functionOf(unit)) {
      remembered.clear();
      for (Instruction &instruction : instructions(*function))
        remember(instruction);
      atomics.before(*function);
      current = function;
    } else {
      current = nullptr;
    }
  }

  void after(Any unit) {
    Function *function = functionOf(unit);
    if (!function)
      return;
    atomics.after(*function);
    if (function != current)
      return;
    current = nullptr;
    for (Instruction &instruction : instructions(*function)) {
      if (!touchesMemory(instruction))
        continue;
      auto found = remembered.find(&instruction);
      if (found != remembered.end() && (!known(instruction) || lostColumn(instruction, *found->second)))
        instruction.setMetadata(near, found->second);
    }
  }

private:
  // The pass managers run the passes of one function after another, so only one function's state has to be stored. Loop
  // passes are identified by the function that contains the loop.
  static Function *functionOf(Any unit) {
    if (const auto *function = any_cast<const Function *>(&unit))
      return const_cast<Function *>(*function);
    if (const auto *loop = any_cast<const Loop *>(&unit))
      return (*loop)->getHeader()->getParent();
    return nullptr;
  }

  bool known(const Instruction &instruction) const {
    const DebugLoc &location = instruction.getDebugLoc();
    return (location && location.getLine() != 0) || instruction.getMetadata(note) || instruction.getMetadata(near);
  }

  // Accesses on one line that were merged keep the line.
  static bool lostColumn(const Instruction &instruction, const MDNode &before) {
    const DebugLoc &location = instruction.getDebugLoc();
    if (!location || location.getLine() == 0 || location.getCol() != 0 || before.getNumOperands() != 4)
      return false;
    const auto *column = mdconst::dyn_extract_or_null<ConstantInt>(before.getOperand(1));
    return column && !column->isZero();
  }

  void remember(Instruction &instruction) {
    if (!touchesMemory(instruction))
      return;
    const DebugLoc &location = instruction.getDebugLoc();
    if (location && location.getLine() != 0) {
      MDNode *node = packed(location.get());
      if (instruction.getMetadata(note) != node)
        instruction.setMetadata(note, node);
      remembered[&instruction] = node;
    } else if (MDNode *node = instruction.getMetadata(note)) {
      remembered[&instruction] = node;
    } else if (MDNode *node = instruction.getMetadata(near)) {
      remembered[&instruction] = node;
    }
  }

  // Packing creates a node for each inlined call, and the same locations occur before every pass, so the results are
  // cached.
  MDNode *packed(const DILocation *location) {
    MDNode *&node = packs[location];
    if (!node)
      node = warpline::packLocation(location);
    return node;
  }

  DenseMap<const DILocation *, MDNode *> packs;
  unsigned note;
  unsigned near;
  warpline::DistinctAtomics atomics;
  Function *current = nullptr;
  DenseMap<const Instruction *, MDNode *> remembered;
};

} // namespace

void wl_free(char *text) { free(text); }

char *wl_run_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *pipeline,
                      const WlTuning *tuning) {
  Module &unit = *llvm::unwrap(module);
  Notes notes(unit.getContext());
  PassInstrumentationCallbacks callbacks;
  if (tuning->keep_notes) {
    callbacks.registerBeforeNonSkippedPassCallback([&](StringRef, Any ir) { notes.before(ir); });
    callbacks.registerAfterPassCallback([&](StringRef, Any ir, const PreservedAnalyses &) { notes.after(ir); });
  }

  PipelineTuningOptions options;
  options.LoopVectorization = tuning->vectorize;
  options.LoopInterleaving = tuning->vectorize;
  options.SLPVectorization = tuning->vectorize;
  options.LoopUnrolling = tuning->unroll;

  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager components;
  ModuleAnalysisManager modules;
  PassBuilder builder(unwrap(machine), options, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);

  if (tuning->unroll_for_local_arrays)
    builder.registerLateLoopOptimizationsEPCallback([](LoopPassManager &loopPasses, OptimizationLevel) {
      loopPasses.addPass(warpline::UnrollForLocalArrays());
    });

  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(passes, pipeline))
    return copy(toString(std::move(error)));
  passes.run(unit, modules);
  return nullptr;
}
