// Processes the entities that debug information lists for a whole module, in addition to those that its code refers to.

#include "shim.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/CBindingWrapping.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace {

// Returns the nodes whose file is not in any of the folders. Like clang, returns null if no node remains.
template <typename Array> Array outside(Array nodes, ArrayRef<StringRef> folders, LLVMContext &context) {
  auto inside = [&](const DIFile *file) {
    if (!file)
      return false;
    SmallString<256> path;
    if (sys::path::is_relative(file->getFilename()))
      path = file->getDirectory();
    sys::path::append(path, file->getFilename());
    return any_of(folders, [&](StringRef folder) { return path.str().starts_with(folder); });
  };
  SmallVector<Metadata *, 16> kept;
  for (auto *node : nodes)
    if (!inside(node->getFile()))
      kept.push_back(node);
  return kept.empty() ? Array(nullptr) : Array(MDTuple::get(context, kept));
}

} // namespace

void wl_unlist_declarations(LLVMModuleRef module, const char *const *folders, size_t count) {
  Module *from = llvm::unwrap(module);
  SmallVector<StringRef, 8> names(folders, folders + count);
  for (DICompileUnit *unit : from->debug_compile_units()) {
    unit->replaceImportedEntities(outside(unit->getImportedEntities(), names, from->getContext()));
    unit->replaceEnumTypes(outside(unit->getEnumTypes(), names, from->getContext()));
  }
}
