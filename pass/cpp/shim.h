// What Warpline needs of LLVM's C++ interface and its C interface lacks. Policy stays in Rust; these
// functions only reach things. None keeps state; strings that they return are freed with wl_free.
#ifndef WARPLINE_SHIM_H
#define WARPLINE_SHIM_H

#include "llvm-c/TargetMachine.h"
#include "llvm-c/Types.h"
#include <stddef.h>
#include <stdint.h>

extern "C" {

// A string owned by LLVM, not zero-terminated; lives as long as the context.
struct WlText {
  const char *data;
  size_t size;
};

// Tuning of `default<On>` that clang sets from its own options.
struct WlTuning {
  bool vectorize;
  bool unroll;
  // Keep `!warpline.loc` notes up to date before every pass and put them back where a pass loses them.
  bool keep_notes;
  // Unroll loops completely where that keeps a local array in registers.
  bool unroll_for_local_arrays;
};

// LLVM's properties of an intrinsic.
struct WlIntrinsic {
  bool touches_memory;
  bool convergent;
  // Its vector form does to each element what its scalar form does to a scalar; of intrinsics that no target owns.
  bool elementwise;
};

// The number of the intrinsic of this name, which may have suffixes for types; 0 if there is none. Numbers are less
// than the count.
unsigned wl_intrinsic_number(const char *name, size_t size);
unsigned wl_intrinsic_count();
WlText wl_intrinsic_name(unsigned number);
void wl_intrinsic_facts(unsigned number, WlIntrinsic *facts);

// Frees a string that a function below returned.
void wl_free(char *text);

// Whether the machine's code generator has gathers made by the processor, and not by a branch per lane: few
// processors with AVX2 alone are fast enough at it. The query makes its types in the context.
bool wl_gathers(LLVMTargetMachineRef machine, LLVMContextRef context);

// Runs a textual pass pipeline. Returns null, or the reason why the text is no pipeline.
char *wl_run_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *pipeline, const WlTuning *tuning);

// Name and linkage name of the subprogram that holds a scope (subprogram, lexical block); empty when unknown.
WlText wl_scope_name(LLVMMetadataRef scope);
WlText wl_scope_linkage_name(LLVMMetadataRef scope);
// The subprogram that holds a scope, or null.
LLVMMetadataRef wl_scope_subprogram(LLVMMetadataRef scope);
// The qualified name of a subprogram's enclosing classes and namespaces, "a::b", empty at file scope.
char *wl_scope_qualifier(LLVMMetadataRef subprogram);
// The type that a subprogram returns; null for void and where it is not known.
LLVMMetadataRef wl_scope_result(LLVMMetadataRef subprogram);
// A copy of a location whose inlined-at chain is `inlined_at` (may be null).
LLVMMetadataRef wl_location_with_inlined_at(LLVMMetadataRef location, LLVMMetadataRef inlined_at);

// A location in a form that any metadata node may hold: LLVM allows DILocation nodes under !dbg alone. The form is
// !{i32 line, i32 column, scope, the same of the inlined-at location or null}. And back; null if it is not the form.
LLVMMetadataRef wl_pack_location(LLVMMetadataRef location);
LLVMMetadataRef wl_unpack_location(LLVMMetadataRef packed);

// The variable of the function itself, not of one inlined, of which the value is the part from *offset bytes on; null
// where it is none.
LLVMMetadataRef wl_variable_part(LLVMValueRef value, uint64_t *offset);

// Name and size in bytes of a structure, class or union, typedefs and qualifiers skipped; empty and 0 for other types.
WlText wl_structure_name(LLVMMetadataRef type);
uint64_t wl_structure_bytes(LLVMMetadataRef type);

// The variable that debug records declare for a stack slot, argument or value; null when none is known.
LLVMMetadataRef wl_local_variable(LLVMValueRef value);
// The debug variable of a global; null when none is known.
LLVMMetadataRef wl_global_variable(LLVMValueRef global);
// Name of a local or global debug variable.
WlText wl_variable_name(LLVMMetadataRef variable);
// File and line of a debug variable's declaration; file may be null.
LLVMMetadataRef wl_variable_file(LLVMMetadataRef variable);
uint32_t wl_variable_line(LLVMMetadataRef variable);
// Whether a local variable is a parameter.
bool wl_variable_is_parameter(LLVMMetadataRef variable);
// Type of a local or global debug variable, or null.
LLVMMetadataRef wl_variable_type(LLVMMetadataRef variable);
// The type that a pointer or reference type leads to, or null for other types.
LLVMMetadataRef wl_pointee(LLVMMetadataRef type);
// Whether a type is a reference.
bool wl_is_reference(LLVMMetadataRef type);
// How many members of a structure or class, those of its bases included, are pointers or smart pointers.
uint32_t wl_pointer_members(LLVMMetadataRef type);
// The path ".field[2].x" to what lies `offset` bytes into a value of the type and has `size` bytes, empty for the
// value itself (unless `enter` requests a member of it); to the innermost when nothing there has that size. Null when
// the offset meets nothing. `inner` gets the type found.
char *wl_member_path(LLVMMetadataRef type, uint64_t offset, uint64_t size, bool enter, LLVMMetadataRef *inner);

// Demangled form of an Itanium name; the name itself when it is none.
char *wl_demangle(const char *name);

// A new block on the edge on which an invoke continues.
LLVMBasicBlockRef wl_split_normal_edge(LLVMValueRef invoke);
// The end of a new block that runs before an instruction where a condition holds.
LLVMValueRef wl_split_if(LLVMValueRef condition, LLVMValueRef before);

// Replaces a memcpy, memmove or memset call by the loop that the NVPTX back end makes of it. False: left as it was.
unsigned wl_known_alignment(LLVMValueRef pointer, LLVMValueRef at);
bool wl_expand_memory_loop(LLVMValueRef call, LLVMTargetMachineRef machine);

// Suppresses LLVM's warnings about loops that it did not unroll or vectorise despite a pragma.
void wl_hide_optimization_failures(LLVMContextRef context);

// Makes instructions of the constant expressions of a global that functions use.
void wl_expand_constant_users(LLVMValueRef global);

// A copy of a function, attributes and calling convention included, with further parameters at the end.
LLVMValueRef wl_clone_with_parameters(LLVMValueRef function, const char *name, LLVMTypeRef *types, size_t count);

// A module of the same context with these definitions of a module; what they refer to is declared. The caller owns it.
LLVMModuleRef wl_clone_part(LLVMModuleRef module, LLVMValueRef *definitions, size_t count);

// Leaves of a function its declaration.
void wl_delete_body(LLVMValueRef function);

// Removes a module's named metadata, if there is any of the name.
void wl_erase_named_metadata(LLVMModuleRef module, const char *name);

// Takes declarations in files of these folders out of what debug information lists of a whole module: enumerations, and
// what namespaces import.
void wl_unlist_declarations(LLVMModuleRef module, const char *const *folders, size_t count);
}

#endif
