// Returns LLVM's properties of its intrinsics.

#include "shim.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/ModRef.h"

using namespace llvm;

unsigned wl_intrinsic_number(const char *name, size_t size) { return Intrinsic::lookupIntrinsicID({name, size}); }

unsigned wl_intrinsic_count() { return Intrinsic::num_intrinsics; }

WlText wl_intrinsic_name(unsigned number) {
  StringRef name = Intrinsic::getBaseName(Intrinsic::ID(number));
  return WlText{name.data(), name.size()};
}

void wl_intrinsic_facts(unsigned number, WlIntrinsic *facts) {
  auto id = Intrinsic::ID(number);
  LLVMContext context;
  AttributeSet attributes = Intrinsic::getFnAttributes(context, id);
  facts->touches_memory = !attributes.getMemoryEffects().doesNotAccessMemory();
  facts->convergent = attributes.hasAttribute(Attribute::Convergent);
  // Without a target, LLVM only has this property for intrinsics that belong to no target.
  facts->elementwise = isTriviallyScalarizable(id, nullptr);
}
