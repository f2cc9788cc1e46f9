// Keeps atomic operations with different source positions separate while passes run.

#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include <optional>
#include <string>

namespace warpline {

// LLVM merges two atomic operations that end the two sides of a branch and differ at most in their operands. A GPU
// performs two operations, each with its own lanes, and the profile shows them on two lines. LLVM never merges
// operations with different synchronisation scopes. Therefore, each source position has its own scope while a pass
// works on the function. A context can have at most 256 scopes, so the positions of one function reuse the available
// scopes in turn.
class DistinctAtomics {
public:
  DistinctAtomics(llvm::LLVMContext &context, unsigned note) : context(context), note(note) {}

  // Assigns scopes to the operations by position, unless there are no operations to keep separate.
  void before(llvm::Function &function) {
    unsigned count = 0;
    for (llvm::Instruction &instruction : llvm::instructions(function))
      count += scopeOf(instruction).has_value();
    if (count < 2)
      return;
    llvm::DenseMap<const llvm::MDNode *, unsigned> positions;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      std::optional<llvm::SyncScope::ID> scope = scopeOf(instruction);
      const llvm::MDNode *position = instruction.getMetadata(note);
      if (!scope || !position || originals.contains(*scope))
        continue;
      unsigned number = positions.try_emplace(position, positions.size()).first->second;
      setScope(instruction, ownScope(*scope, number % MOST));
    }
  }

  // Restores the scopes of the operations, including those that the pass copied.
  void after(llvm::Function &function) {
    if (originals.empty())
      return;
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      std::optional<llvm::SyncScope::ID> scope = scopeOf(instruction);
      if (!scope)
        continue;
      auto original = originals.find(*scope);
      if (original != originals.end())
        setScope(instruction, original->second);
    }
  }

private:
  // The number of scopes for the operations of each scope of the program. A program has three or four scopes.
  static constexpr unsigned MOST = 40;

  static std::optional<llvm::SyncScope::ID> scopeOf(const llvm::Instruction &instruction) {
    if (const auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return update->getSyncScopeID();
    if (const auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      return exchange->getSyncScopeID();
    return std::nullopt;
  }

  static void setScope(llvm::Instruction &instruction, llvm::SyncScope::ID scope) {
    if (auto *update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      update->setSyncScopeID(scope);
    else if (auto *exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
      exchange->setSyncScopeID(scope);
  }

  llvm::SyncScope::ID ownScope(llvm::SyncScope::ID original, unsigned number) {
    llvm::SmallVector<llvm::SyncScope::ID> &own = scopes[original];
    while (own.size() <= number) {
      std::string name = "warpline." + std::to_string(original) + "." + std::to_string(own.size());
      llvm::SyncScope::ID scope = context.getOrInsertSyncScopeID(name);
      own.push_back(scope);
      originals[scope] = original;
    }
    return own[number];
  }

  llvm::LLVMContext &context;
  unsigned note;
  llvm::DenseMap<llvm::SyncScope::ID, llvm::SmallVector<llvm::SyncScope::ID>> scopes;
  llvm::DenseMap<llvm::SyncScope::ID, llvm::SyncScope::ID> originals;
};

} // namespace warpline
