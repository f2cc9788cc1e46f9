// Clones functions under a longer signature, and removes what a module says of its variables.

#include "shim.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

LLVMValueRef wl_clone_with_parameters(LLVMValueRef value, const char *name, LLVMTypeRef *types, size_t count) {
  auto *old = cast<Function>(llvm::unwrap(value));
  SmallVector<Type *, 16> parameters(old->getFunctionType()->params());
  for (size_t index = 0; index < count; index++)
    parameters.push_back(llvm::unwrap(types[index]));
  auto *type = FunctionType::get(old->getReturnType(), parameters, old->isVarArg());
  auto *clone = Function::Create(type, old->getLinkage(), old->getAddressSpace(), name, old->getParent());
  ValueToValueMapTy map;
  auto argument = clone->arg_begin();
  for (Argument &parameter : old->args()) {
    argument->setName(parameter.getName());
    map[&parameter] = &*argument++;
  }
  SmallVector<ReturnInst *, 8> returns;
  CloneFunctionInto(clone, old, map, CloneFunctionChangeType::LocalChangesOnly, returns);
  return llvm::wrap(clone);
}

void wl_erase_named_metadata(LLVMModuleRef module, const char *name) {
  Module *from = llvm::unwrap(module);
  if (NamedMDNode *node = from->getNamedMetadata(name))
    from->eraseNamedMetadata(node);
}
