// Reads names, types and scopes from debug information.

#include "location_note.h"
#include "shim.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DebugProgramInstruction.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/CBindingWrapping.h"
#include <cstring>
#include <string>

using namespace llvm;

namespace {

WlText text(StringRef string) { return {string.data(), string.size()}; }

char *copy(const std::string &string) { return strdup(string.c_str()); }

DISubprogram *subprogram(LLVMMetadataRef scope) {
  auto *local = dyn_cast_or_null<DILocalScope>(llvm::unwrap<Metadata>(scope));
  return local ? local->getSubprogram() : nullptr;
}

// Returns a type without typedefs and qualifiers.
DIType *plain(DIType *type) {
  while (auto *derived = dyn_cast_or_null<DIDerivedType>(type)) {
    switch (derived->getTag()) {
    case dwarf::DW_TAG_typedef:
    case dwarf::DW_TAG_const_type:
    case dwarf::DW_TAG_volatile_type:
    case dwarf::DW_TAG_restrict_type:
    case dwarf::DW_TAG_atomic_type:
      type = derived->getBaseType();
      continue;
    default:
      return type;
    }
  }
  return type;
}

uint64_t bitsOf(DIType *type) {
  type = plain(type);
  return type ? type->getSizeInBits() : 0;
}

// Returns the number of elements in each dimension, outermost first; 0 if unknown.
SmallVector<uint64_t> dimensions(DICompositeType *array) {
  SmallVector<uint64_t> counts;
  for (auto *element : array->getElements()) {
    uint64_t count = 0;
    if (auto *range = dyn_cast<DISubrange>(element))
      if (auto *constant = dyn_cast_if_present<ConstantInt *>(range->getCount()))
        count = constant->getZExtValue();
    counts.push_back(count);
  }
  return counts;
}

bool isBase(DIDerivedType *member) { return member->getTag() == dwarf::DW_TAG_inheritance; }

// Appends the path to the bit. Returns the member at this position that has the size, or else the innermost member.
DIType *descend(DIType *type, uint64_t bit, uint64_t size, bool enter, std::string &path) {
  DIType *inner = plain(type);
  if (!enter && bit == 0 && inner && inner->getSizeInBits() == size)
    return inner;
  auto *composite = dyn_cast_or_null<DICompositeType>(inner);
  if (!composite)
    return bit == 0 ? inner : nullptr;
  if (composite->getTag() == dwarf::DW_TAG_array_type) {
    DIType *element = composite->getBaseType();
    uint64_t step = bitsOf(element);
    if (step == 0)
      return nullptr;
    SmallVector<uint64_t> counts = dimensions(composite);
    uint64_t index = bit / step;
    std::string subscripts;
    for (size_t at = counts.size(); at-- > 1;) {
      uint64_t count = counts[at] ? counts[at] : 1;
      subscripts = "[" + std::to_string(index % count) + "]" + subscripts;
      index /= count;
    }
    path += "[" + std::to_string(index) + "]" + subscripts;
    return descend(element, bit % step, size, false, path);
  }
  if (composite->getTag() != dwarf::DW_TAG_structure_type && composite->getTag() != dwarf::DW_TAG_class_type &&
      composite->getTag() != dwarf::DW_TAG_union_type)
    return bit == 0 ? inner : nullptr;
  for (auto *element : composite->getElements()) {
    auto *member = dyn_cast<DIDerivedType>(element);
    if (!member || member->isStaticMember() ||
        (member->getTag() != dwarf::DW_TAG_member && !isBase(member)))
      continue;
    uint64_t start = member->getOffsetInBits();
    if (bit < start || bit >= start + bitsOf(member->getBaseType()))
      continue;
    std::string inside;
    DIType *found = descend(member->getBaseType(), bit - start, size, false, inside);
    if (!found)
      continue;
    if (!isBase(member) && !member->getName().empty())
      path += "." + member->getName().str();
    path += inside;
    return found;
  }
  return nullptr;
}

DICompositeType *structure(LLVMMetadataRef type) {
  auto *found = dyn_cast_or_null<DICompositeType>(plain(dyn_cast_or_null<DIType>(llvm::unwrap<Metadata>(type))));
  if (!found)
    return nullptr;
  switch (found->getTag()) {
  case dwarf::DW_TAG_structure_type:
  case dwarf::DW_TAG_class_type:
  case dwarf::DW_TAG_union_type:
    return found;
  default:
    return nullptr;
  }
}

// Counts the pointers, including smart pointers, that are members of a class or of its bases.
uint32_t pointerMembers(DICompositeType *found) {
  uint32_t count = 0;
  for (auto *element : found->getElements()) {
    auto *member = dyn_cast<DIDerivedType>(element);
    if (!member || member->isStaticMember() || (member->getTag() != dwarf::DW_TAG_member && !isBase(member)))
      continue;
    DIType *type = plain(member->getBaseType());
    auto *inner = dyn_cast_or_null<DICompositeType>(type);
    if (inner && isBase(member))
      count += pointerMembers(inner);
    else if (inner)
      count += inner->getName().starts_with("unique_ptr<") || inner->getName().starts_with("shared_ptr<");
    else if (type && type->getTag() == dwarf::DW_TAG_pointer_type)
      count++;
  }
  return count;
}

} // namespace

WlText wl_scope_name(LLVMMetadataRef scope) {
  DISubprogram *found = subprogram(scope);
  return found ? text(found->getName()) : WlText{nullptr, 0};
}

WlText wl_scope_linkage_name(LLVMMetadataRef scope) {
  DISubprogram *found = subprogram(scope);
  return found ? text(found->getLinkageName()) : WlText{nullptr, 0};
}

LLVMMetadataRef wl_scope_subprogram(LLVMMetadataRef scope) { return llvm::wrap(subprogram(scope)); }

char *wl_scope_qualifier(LLVMMetadataRef scope) {
  std::string qualifier;
  DISubprogram *found = subprogram(scope);
  for (DIScope *outer = found ? found->getScope() : nullptr; outer; outer = outer->getScope()) {
    if (!isa<DINamespace>(outer) && !isa<DICompositeType>(outer))
      break;
    std::string name = outer->getName().empty() ? "(anonymous)" : outer->getName().str();
    qualifier = qualifier.empty() ? name : name + "::" + qualifier;
  }
  return copy(qualifier);
}

LLVMMetadataRef wl_scope_result(LLVMMetadataRef scope) {
  DISubprogram *found = subprogram(scope);
  DISubroutineType *type = found ? found->getType() : nullptr;
  DITypeRefArray types = type ? type->getTypeArray() : nullptr;
  return types && types.size() > 0 ? llvm::wrap(static_cast<Metadata *>(types[0])) : nullptr;
}

LLVMMetadataRef wl_location_with_inlined_at(LLVMMetadataRef location, LLVMMetadataRef inlined_at) {
  auto *old = cast<DILocation>(llvm::unwrap<Metadata>(location));
  auto *outer = inlined_at ? cast<DILocation>(llvm::unwrap<Metadata>(inlined_at)) : nullptr;
  return llvm::wrap(DILocation::get(old->getContext(), old->getLine(), old->getColumn(), old->getScope(), outer));
}

LLVMMetadataRef wl_pack_location(LLVMMetadataRef location) {
  auto *node = dyn_cast_or_null<DILocation>(llvm::unwrap<Metadata>(location));
  return llvm::wrap(static_cast<Metadata *>(warpline::packLocation(node)));
}

LLVMMetadataRef wl_unpack_location(LLVMMetadataRef packed) {
  auto *node = dyn_cast_or_null<MDNode>(llvm::unwrap<Metadata>(packed));
  return llvm::wrap(static_cast<Metadata *>(warpline::unpackLocation(node)));
}

LLVMMetadataRef wl_local_variable(LLVMValueRef value) {
  Value *slot = llvm::unwrap(value);
  for (DbgVariableRecord *record : findDVRDeclares(slot))
    return llvm::wrap(record->getVariable());
  SmallVector<DbgVariableRecord *> users;
  findDbgValues(slot, users);
  // Inlining makes the parameters of the callee additional names of the value. The name in the function itself takes
  // precedence.
  DbgVariableRecord *found = nullptr;
  for (DbgVariableRecord *record : users) {
    if (!record->getExpression() || record->getExpression()->getNumElements() != 0)
      continue;
    bool inlined = record->getDebugLoc() && record->getDebugLoc()->getInlinedAt();
    if (!found || !inlined)
      found = record;
    if (!inlined)
      break;
  }
  return found ? llvm::wrap(found->getVariable()) : nullptr;
}

LLVMMetadataRef wl_variable_part(LLVMValueRef value, uint64_t *offset) {
  SmallVector<DbgVariableRecord *> users;
  findDbgValues(llvm::unwrap(value), users);
  for (DbgVariableRecord *record : users) {
    DIExpression *expression = record->getExpression();
    bool inlined = record->getDebugLoc() && record->getDebugLoc()->getInlinedAt();
    if (!expression || inlined || expression->getNumElements() != 3)
      continue;
    if (std::optional<DIExpression::FragmentInfo> part = expression->getFragmentInfo()) {
      *offset = part->OffsetInBits / 8;
      return llvm::wrap(static_cast<Metadata *>(record->getVariable()));
    }
  }
  return nullptr;
}

LLVMMetadataRef wl_global_variable(LLVMValueRef global) {
  auto *variable = dyn_cast<GlobalVariable>(llvm::unwrap(global));
  if (!variable)
    return nullptr;
  SmallVector<DIGlobalVariableExpression *, 1> found;
  variable->getDebugInfo(found);
  return found.empty() ? nullptr : llvm::wrap(found.front()->getVariable());
}

WlText wl_variable_name(LLVMMetadataRef variable) {
  return text(cast<DIVariable>(llvm::unwrap<Metadata>(variable))->getName());
}

LLVMMetadataRef wl_variable_file(LLVMMetadataRef variable) {
  return llvm::wrap(cast<DIVariable>(llvm::unwrap<Metadata>(variable))->getFile());
}

uint32_t wl_variable_line(LLVMMetadataRef variable) {
  return cast<DIVariable>(llvm::unwrap<Metadata>(variable))->getLine();
}

bool wl_variable_is_parameter(LLVMMetadataRef variable) {
  auto *local = dyn_cast<DILocalVariable>(llvm::unwrap<Metadata>(variable));
  return local && local->isParameter();
}

LLVMMetadataRef wl_variable_type(LLVMMetadataRef variable) {
  return llvm::wrap(cast<DIVariable>(llvm::unwrap<Metadata>(variable))->getType());
}

LLVMMetadataRef wl_pointee(LLVMMetadataRef type) {
  auto *derived = dyn_cast_or_null<DIDerivedType>(plain(dyn_cast_or_null<DIType>(llvm::unwrap<Metadata>(type))));
  if (!derived)
    return nullptr;
  switch (derived->getTag()) {
  case dwarf::DW_TAG_pointer_type:
  case dwarf::DW_TAG_reference_type:
  case dwarf::DW_TAG_rvalue_reference_type:
    return llvm::wrap(static_cast<Metadata *>(derived->getBaseType()));
  default:
    return nullptr;
  }
}

bool wl_is_reference(LLVMMetadataRef type) {
  DIType *found = plain(dyn_cast_or_null<DIType>(llvm::unwrap<Metadata>(type)));
  return found && (found->getTag() == dwarf::DW_TAG_reference_type ||
                   found->getTag() == dwarf::DW_TAG_rvalue_reference_type);
}

WlText wl_structure_name(LLVMMetadataRef type) {
  DICompositeType *found = structure(type);
  return found ? text(found->getName()) : WlText{nullptr, 0};
}

uint64_t wl_structure_bytes(LLVMMetadataRef type) {
  DICompositeType *found = structure(type);
  return found ? found->getSizeInBits() / 8 : 0;
}

bool wl_is_union(LLVMMetadataRef type) {
  DICompositeType *found = structure(type);
  return found && found->getTag() == dwarf::DW_TAG_union_type;
}

uint64_t wl_type_bytes(LLVMMetadataRef type) {
  return bitsOf(dyn_cast_or_null<DIType>(llvm::unwrap<Metadata>(type))) / 8;
}

uint32_t wl_pointer_members(LLVMMetadataRef type) {
  DICompositeType *found = structure(type);
  return found ? pointerMembers(found) : 0;
}

char *wl_member_path(LLVMMetadataRef type, uint64_t offset, uint64_t size, bool enter, LLVMMetadataRef *inner) {
  std::string path;
  DIType *found = descend(dyn_cast_or_null<DIType>(llvm::unwrap<Metadata>(type)), offset * 8, size * 8, enter, path);
  *inner = found ? llvm::wrap(static_cast<Metadata *>(found)) : nullptr;
  return found ? copy(path) : nullptr;
}

char *wl_demangle(const char *name) { return copy(llvm::demangle(name)); }
