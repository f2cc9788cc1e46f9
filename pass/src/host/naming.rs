//! Emits the calls that pass the name of the next allocation to the runtime (`docs/design/borders.md`, section 6).

use super::holders::{Holder, is_just_memory};
use super::names::Name;
use super::place::place_after;
use super::wrappers::Inside;
use crate::llvm::{Builder, ModuleItems, Value};
use inkwell::module::Module;
use warpline_format::hooks::{NAME_OF_STORAGE, WEAK_NAME};

/// The maximum length of a name with run-time indices, including the terminating zero.
const NAME_BYTES: u32 = 128;

/// Emits the name of the memory before a call that allocates. For a variable, this is `__warpline_name("variable")`.
/// For a member of the method's object, it is `__warpline_name_member(".field", "field", …)`. `is_weak` means that a
/// name from a caller takes precedence.
pub(super) fn name<'c>(module: &Module<'c>, call: Value<'c>, name: &Name<'c>, is_weak: bool) {
    let types = ModuleItems::types(module);
    let pointer = types.pointer(0);
    let builder = Builder::new(types);
    let weak = if is_weak { WEAK_NAME } else { 0 };
    if name.is_member() {
        let Some(suffix) = text(module, &builder, call, name, ".") else { return };
        let alone = builder.offset(suffix, 1);
        let field = name.text.concat();
        let is_just_memory = name.root_class.is_some_and(|class| is_just_memory(class, &field));
        let suffix = if is_just_memory { text_constant(module, "") } else { suffix };
        return name_member(module, &builder, [suffix, alone], weak);
    }
    let Some(text) = text(module, &builder, call, name, "") else { return };
    if is_weak {
        return name_member(module, &builder, [Value::zero(pointer), text], weak);
    }
    let hook = module.declare("__warpline_name", types.void().function(&[pointer]));
    builder.call(hook, &[text]);
}

/// Emits `__warpline_name(null)`, because the call has made its allocation.
pub(super) fn clear<'c>(module: &Module<'c>, after: Value<'c>) {
    let types = ModuleItems::types(module);
    let pointer = types.pointer(0);
    let hook = module.declare("__warpline_name", types.void().function(&[pointer]));
    let builder = Builder::new(types);
    builder.before(after);
    builder.call(hook, &[Value::zero(pointer)]);
}

/// The variant of [`name`] for the object on which the standard library works.
pub(super) fn inside<'c>(module: &Module<'c>, call: Value<'c>, what: &Inside) {
    let builder = Builder::new(ModuleItems::types(module));
    builder.before(call);
    let texts = [&what.suffix, &what.alone].map(|part| text_constant(module, part));
    name_member(module, &builder, texts, if what.is_storage { NAME_OF_STORAGE } else { 0 });
}

fn name_member<'c>(module: &Module<'c>, builder: &Builder<'c>, [suffix, alone]: [Value<'c>; 2], flags: u32) {
    let types = ModuleItems::types(module);
    let (pointer, word) = (types.pointer(0), types.int(32));
    let hook = module.declare("__warpline_name_member", types.void().function(&[pointer, pointer, word]));
    builder.call(hook, &[suffix, alone, Value::int(word, flags.into())]);
}

/// Emits `__warpline_enter("object", …)` before a call and `__warpline_leave(…)` after it: members that are allocated
/// in between belong to this object.
pub(super) fn holder<'c>(module: &Module<'c>, call: Value<'c>, holder: &Holder<'c>) {
    let Some(after) = place_after(call) else { return };
    let types = ModuleItems::types(module);
    let (pointer, flag) = (types.pointer(0), types.int(32));
    let enter = module.declare("__warpline_enter", flag.function(&[pointer, flag]));
    let leave = module.declare("__warpline_leave", types.void().function(&[flag]));
    let builder = Builder::new(types);
    let object = match &holder.name {
        Some(name) => text(module, &builder, call, name, if name.is_member() { "." } else { "" }),
        None => Some(Value::zero(pointer)),
    };
    let Some(object) = object else { return };
    builder.before(call);
    let depth = builder.call(enter, &[object, Value::int(flag, holder.has_elements.into())]);
    builder.before(after);
    builder.call(leave, &[depth]);
}

/// Emits the text of a name after `start`, before a call. If indices are known only at run time, the text is composed
/// there.
fn text<'c>(
    module: &Module<'c>,
    builder: &Builder<'c>,
    call: Value<'c>,
    name: &Name<'c>,
    start: &str,
) -> Option<Value<'c>> {
    if name.indices.is_empty() {
        builder.before(call);
        return Some(text_constant(module, &format!("{start}{}", name.text.concat())));
    }
    let types = ModuleItems::types(module);
    let pointer = types.pointer(0);
    let print = module.declare("snprintf", types.int(32).variadic(&[pointer, types.int(64), pointer]));
    let format = name.text.join("%lld").replace("%lld", "\0").replace('%', "%%").replace('\0', "%lld");
    let format = text_constant(module, &format!("{start}{format}"));
    // The buffer is in the entry block; in a loop, it would make the stack grow.
    let first = call.block()?.function().blocks().first().copied()?;
    builder.before(*first.instructions().first()?);
    let buffer = builder.alloca(types.int(8).array(u64::from(NAME_BYTES)), 1);
    builder.before(call);
    let mut arguments = vec![buffer, Value::int(types.int(64), u64::from(NAME_BYTES)), format];
    for &index in &name.indices {
        arguments.push(builder.sext(index, types.int(64)));
    }
    builder.call(print, &arguments);
    Some(buffer)
}

/// Returns a private zero-terminated string.
pub(super) fn text_constant<'c>(module: &Module<'c>, text: &str) -> Value<'c> {
    let types = ModuleItems::types(module);
    let mut bytes: Vec<u8> = text.bytes().filter(|&byte| byte != 0).collect();
    bytes.push(0);
    let name = format!("__warpline_text.{text}");
    if let Some(known) = module.variable(&name) {
        return known;
    }
    let value = Value::bytes(types, &bytes);
    let variable = module.new_variable(&name, value.ty(), 0);
    variable.set_initializer(value);
    variable.set_constant(true);
    variable.set_linkage(crate::llvm::value::Linkage::LLVMPrivateLinkage);
    variable
}
