// Clones functions with additional parameters, clones parts of modules, and removes a module's metadata about its
// variables.

#include "shim.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

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

LLVMModuleRef wl_clone_part(LLVMModuleRef module, LLVMValueRef *definitions, size_t count) {
  DenseSet<const GlobalValue *> kept;
  for (size_t index = 0; index < count; index++)
    kept.insert(cast<GlobalValue>(llvm::unwrap(definitions[index])));
  ValueToValueMapTy map;
  auto part =
      CloneModule(*llvm::unwrap(module), map, [&](const GlobalValue *global) { return kept.contains(global); });
  // The part does not use most of what the module declares.
  for (Function &function : make_early_inc_range(*part))
    if (function.isDeclaration() && function.use_empty())
      function.eraseFromParent();
  for (GlobalVariable &variable : make_early_inc_range(part->globals()))
    if (variable.isDeclaration() && variable.use_empty())
      variable.eraseFromParent();
  return llvm::wrap(part.release());
}

void wl_delete_body(LLVMValueRef function) { cast<Function>(llvm::unwrap(function))->deleteBody(); }
