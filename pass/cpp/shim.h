// Functions of LLVM's C++ interface that Warpline needs and that the C interface does not offer. Decisions are made in
// Rust; these functions only give access to LLVM. None of them keeps state; strings that they return must be freed with
// wl_free.
#ifndef WARPLINE_SHIM_H
#define WARPLINE_SHIM_H

#include "llvm-c/TargetMachine.h"
#include "llvm-c/Types.h"
#include <stddef.h>
#include <stdint.h>

extern "C" {

// A string that LLVM owns. It is not zero-terminated, and it lives as long as the context.
struct WlText {
  const char *data;
  size_t size;
};

// Options of `default<On>` that clang sets from its own options.
struct WlTuning {
  bool vectorize;
  bool unroll;
  // Whether `!warpline.loc` notes are updated before every pass, and restored if a pass loses them.
  bool keep_notes;
  // Whether loops are unrolled completely if this allows a local array to be kept in registers.
  bool unroll_for_local_arrays;
};

// LLVM's properties of an intrinsic.
struct WlIntrinsic {
  bool touches_memory;
  bool convergent;
  // Whether its vector form applies the scalar form to each element; only for intrinsics that belong to no target.
  bool elementwise;
};

// Returns the number of the intrinsic with this name, which may have suffixes for types, or 0 if there is none. Numbers
// are less than the count.
unsigned wl_intrinsic_number(const char *name, size_t size);
unsigned wl_intrinsic_count();
WlText wl_intrinsic_name(unsigned number);
void wl_intrinsic_facts(unsigned number, WlIntrinsic *facts);

// Frees a string that a function below returned.
void wl_free(char *text);

// Returns whether the machine's code generator uses the processor's gather instructions instead of a branch per lane.
// Few processors that only have AVX2 are fast enough at gathers. The query creates its types in the context.
bool wl_gathers(LLVMTargetMachineRef machine, LLVMContextRef context);

// Runs a textual pass pipeline. Returns null, or the reason why the text is not a pipeline.
char *wl_run_pipeline(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *pipeline, const WlTuning *tuning);

// Returns the name and the linkage name of the subprogram that contains a scope (subprogram, lexical block); empty if
// unknown.
WlText wl_scope_name(LLVMMetadataRef scope);
WlText wl_scope_linkage_name(LLVMMetadataRef scope);
// Returns the subprogram that contains a scope, or null.
LLVMMetadataRef wl_scope_subprogram(LLVMMetadataRef scope);
// Returns the qualified name of a subprogram's enclosing classes and namespaces, "a::b"; empty at file scope.
char *wl_scope_qualifier(LLVMMetadataRef subprogram);
// Returns the type that a subprogram returns, or null for void or an unknown type.
LLVMMetadataRef wl_scope_result(LLVMMetadataRef subprogram);
// Returns a copy of a location whose inlined-at chain is `inlined_at` (may be null).
LLVMMetadataRef wl_location_with_inlined_at(LLVMMetadataRef location, LLVMMetadataRef inlined_at);

// Converts a location to a form that any metadata node may contain, because LLVM allows DILocation nodes only under
// !dbg. The form is !{i32 line, i32 column, scope, the same form of the inlined-at location or null}. The second
// function converts it back; it returns null if the node does not have this form.
LLVMMetadataRef wl_pack_location(LLVMMetadataRef location);
LLVMMetadataRef wl_unpack_location(LLVMMetadataRef packed);

// Returns the variable of the function itself, not of an inlined function, of which the value is a part that begins at
// *offset bytes; null if there is none.
LLVMMetadataRef wl_variable_part(LLVMValueRef value, uint64_t *offset);

// Returns the name and the size in bytes of a structure, class or union, ignoring typedefs and qualifiers; empty and 0
// for other types.
WlText wl_structure_name(LLVMMetadataRef type);
uint64_t wl_structure_bytes(LLVMMetadataRef type);
// Returns whether a type is a union, ignoring typedefs and qualifiers.
bool wl_is_union(LLVMMetadataRef type);
// Returns the size of a type in bytes, or 0 if it is unknown.
uint64_t wl_type_bytes(LLVMMetadataRef type);

// Returns the variable that debug records declare for a stack slot, argument or value; null if none is known.
LLVMMetadataRef wl_local_variable(LLVMValueRef value);
// Returns the debug variable of a global; null if none is known.
LLVMMetadataRef wl_global_variable(LLVMValueRef global);
// Returns the name of a local or global debug variable.
WlText wl_variable_name(LLVMMetadataRef variable);
// Return the file and the line of a debug variable's declaration; the file may be null.
LLVMMetadataRef wl_variable_file(LLVMMetadataRef variable);
uint32_t wl_variable_line(LLVMMetadataRef variable);
// Returns whether a local variable is a parameter.
bool wl_variable_is_parameter(LLVMMetadataRef variable);
// Returns the type of a local or global debug variable, or null.
LLVMMetadataRef wl_variable_type(LLVMMetadataRef variable);
// Returns the type to which a pointer or reference type refers, or null for other types.
LLVMMetadataRef wl_pointee(LLVMMetadataRef type);
// Returns whether a type is a reference.
bool wl_is_reference(LLVMMetadataRef type);
// Returns the number of members of a structure or class, including those of its bases, that are pointers or smart
// pointers.
uint32_t wl_pointer_members(LLVMMetadataRef type);
// Returns the path ".field[2].x" to the member at `offset` bytes in a value of the type that has `size` bytes. The path
// is empty for the value itself (unless `enter` requests one of its members). If no member there has this size, the
// path leads to the innermost member. Returns null if there is no member at the offset. `inner` receives the type that
// was found.
char *wl_member_path(LLVMMetadataRef type, uint64_t offset, uint64_t size, bool enter, LLVMMetadataRef *inner);

// Returns the demangled form of an Itanium name, or the name itself if it is not mangled.
char *wl_demangle(const char *name);

// Inserts a block on the edge on which an invoke continues, and returns the block.
LLVMBasicBlockRef wl_split_normal_edge(LLVMValueRef invoke);
// Inserts a block that runs before an instruction if a condition is true, and returns the end of the block.
LLVMValueRef wl_split_if(LLVMValueRef condition, LLVMValueRef before);

// Replaces a memcpy, memmove or memset call by the loop that the NVPTX back end makes of it. False: left as it was.
unsigned wl_known_alignment(LLVMValueRef pointer, LLVMValueRef at);
bool wl_expand_memory_loop(LLVMValueRef call, LLVMTargetMachineRef machine);

// Suppresses LLVM's warnings about loops that it did not unroll or vectorise despite a pragma.
void wl_hide_optimization_failures(LLVMContextRef context);

// Converts the constant expressions of a global that functions use to instructions.
void wl_expand_constant_users(LLVMValueRef global);

// Returns a copy of a function, including attributes and calling convention, with more parameters at the end.
LLVMValueRef wl_clone_with_parameters(LLVMValueRef function, const char *name, LLVMTypeRef *types, size_t count);

// Returns a module in the same context with these definitions of a module, and with declarations of what they refer to.
// The caller owns the result.
LLVMModuleRef wl_clone_part(LLVMModuleRef module, LLVMValueRef *definitions, size_t count);

// Deletes the body of a function, so that only its declaration remains.
void wl_delete_body(LLVMValueRef function);

// Removes a module's named metadata with this name, if it exists.
void wl_erase_named_metadata(LLVMModuleRef module, const char *name);

// Removes declarations in files of these folders from the lists that debug information has for a whole module:
// enumerations, and the imports of namespaces.
void wl_unlist_declarations(LLVMModuleRef module, const char *const *folders, size_t count);
}

#endif
