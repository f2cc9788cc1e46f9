// Keeps atomic operations of different source positions apart while passes run.

#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include <optional>
#include <string>

namespace warpline {

// LLVM makes one atomic operation of two that end the sides of a branch and differ at most in their operands. A GPU
// performs two, each by its lanes, and the profile has them at two lines. Operations of different synchronisation
// scopes are never merged, so that each source position has a scope of its own while a pass works on the function.
// There are no more than 256 scopes in a context: positions of one function share those that there are in turn.
class DistinctAtomics {
public:
  DistinctAtomics(llvm::LLVMContext &context, unsigned note) : context(context), note(note) {}

  // Gives the operations scopes by position, unless there is nothing to keep apart.
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

  // Gives the operations, also those that the pass copied, their scopes back.
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
  // Scopes for the operations of each scope of the program, of which there are three or four.
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
