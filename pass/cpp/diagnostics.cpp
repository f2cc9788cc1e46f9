// Selects which of LLVM's messages are shown.

#include "shim.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CBindingWrapping.h"
#include <memory>

using namespace llvm;

namespace {

struct Handler : DiagnosticHandler {
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    return isa<DiagnosticInfoOptimizationFailure>(info);
  }
};

} // namespace

void wl_hide_optimization_failures(LLVMContextRef context) {
  llvm::unwrap(context)->setDiagnosticHandler(std::make_unique<Handler>());
}
