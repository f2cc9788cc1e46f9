// The packed form of a location, see wl_pack_location.
#ifndef WARPLINE_LOCATION_NOTE_H
#define WARPLINE_LOCATION_NOTE_H

#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Metadata.h"

namespace warpline {

inline llvm::MDNode *packLocation(const llvm::DILocation *location) {
  if (!location)
    return nullptr;
  llvm::LLVMContext &context = location->getContext();
  auto number = [&](unsigned value) {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
  };
  return llvm::MDTuple::get(context, {number(location->getLine()), number(location->getColumn()),
                                      location->getRawScope(), packLocation(location->getInlinedAt())});
}

inline llvm::DILocation *unpackLocation(const llvm::MDNode *packed) {
  if (!packed || packed->getNumOperands() != 4)
    return nullptr;
  auto *line = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(packed->getOperand(0));
  auto *column = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(packed->getOperand(1));
  auto *scope = llvm::dyn_cast_or_null<llvm::DILocalScope>(packed->getOperand(2).get());
  if (!line || !column || !scope)
    return nullptr;
  auto *outer = llvm::dyn_cast_or_null<llvm::MDNode>(packed->getOperand(3).get());
  return llvm::DILocation::get(packed->getContext(), line->getZExtValue(), column->getZExtValue(), scope,
                               unpackLocation(outer));
}

} // namespace warpline

#endif
