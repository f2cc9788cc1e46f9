//! The source name of what lies at an address, read off unoptimised code and its debug information: a variable, a
//! field of one, an element of an array of them.

use crate::llvm::debug::{DebugType, Scope, Variable};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// The expression for an object. `[…]` with an index known only when the program runs is kept apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Name<'c> {
    /// Pieces of text; between two of them stands an index.
    pub(super) text: Vec<String>,
    /// The indices, integers of any width.
    pub(super) indices: Vec<Value<'c>>,
    /// The variable that it begins with: a stack slot, argument or global; and that variable's name.
    pub(super) root: Option<Value<'c>>,
    pub(super) root_name: String,
    /// The class that it is a pointer or reference to, if it is one.
    pub(super) root_class: Option<DebugType<'c>>,
    /// Not in that variable itself, but where a pointer in it leads.
    pub(super) by_address: bool,
    ty: Option<DebugType<'c>>,
    /// Reached through this pointer and not yet named further: a field follows with `->`.
    through_pointer: bool,
}

/// How far back a value is followed.
const DEPTH: u32 = 12;

impl<'c> Name<'c> {
    fn of_variable(root: Value<'c>, variable: Variable<'c>) -> Option<Self> {
        let name = variable.name();
        (!name.is_empty()).then(|| Name {
            text: vec![name.clone()],
            root: Some(root),
            root_name: name,
            root_class: variable.ty().and_then(DebugType::pointee).filter(|ty| ty.structure().is_some()),
            ty: variable.ty(),
            ..Name::default()
        })
    }

    /// A name that is just this text.
    pub(super) fn of_text(text: &str) -> Self {
        Name { text: vec![text.to_owned()], ..Name::default() }
    }

    /// Returns whether it is the object itself whose method this is.
    pub(super) fn is_this(&self) -> bool {
        self.text == ["this"]
    }

    /// Returns whether it is a member of the object whose method this is: callers know that object by a name.
    pub(super) fn is_member(&self) -> bool {
        self.root_name == "this" && !self.is_this()
    }

    /// Returns the part `.field` of this object; of all of it, when that is empty.
    pub(super) fn with_suffix(mut self, suffix: &str) -> Self {
        if suffix.is_empty() {
            return self;
        }
        match suffix.strip_prefix('.') {
            Some(field) if self.through_pointer && self.text == ["this"] => self.text = vec![field.to_owned()],
            Some(field) if self.through_pointer => self.push(&format!("->{field}")),
            _ => self.push(suffix),
        }
        self.through_pointer = false;
        self
    }

    fn push(&mut self, text: &str) {
        if let Some(last) = self.text.last_mut() {
            last.push_str(text);
        }
    }

    /// Returns the part of this object at an offset, of a size in bytes; `enter` excludes the object itself.
    fn member(mut self, offset: u64, size: u64, enter: bool) -> Option<Self> {
        let Some(ty) = self.ty else { return (offset == 0).then_some(self) };
        let Some((path, inner)) = ty.member(offset, size, enter) else { return (offset == 0).then_some(self) };
        if path.is_empty() {
            return Some(self);
        }
        match path.strip_prefix('.') {
            // What the source writes as `field` inside a method is `this->field`.
            Some(field) if self.through_pointer && self.text == ["this"] => self.text = vec![field.to_owned()],
            Some(field) if self.through_pointer => self.push(&format!("->{field}")),
            _ => self.push(&path),
        }
        self.ty = Some(inner);
        self.through_pointer = false;
        Some(self)
    }

    /// Returns the object that this pointer or reference leads to.
    fn pointee(mut self) -> Self {
        self.through_pointer = !self.ty.is_some_and(DebugType::is_reference);
        self.ty = self.ty.and_then(DebugType::pointee);
        self.by_address = true;
        self
    }

    /// Element `index` of this array.
    fn element(mut self, index: Value<'c>) -> Self {
        match index.as_i64() {
            Some(constant) => self.push(&format!("[{constant}]")),
            None => {
                self.push("[");
                self.indices.push(index);
                self.text.push("]".into());
            }
        }
        self.through_pointer = false;
        self
    }
}

/// Name of the object at an address.
pub(super) fn object_at<'c>(address: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    trace(address, layout, DEPTH)
}

/// Name of the pointer at an address: of a structure that begins with one, that field.
pub(super) fn pointer_at<'c>(address: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    object_at(address, layout)?.member(0, 8, false)
}

fn trace<'c>(address: Value<'c>, layout: Layout<'_>, depth: u32) -> Option<Name<'c>> {
    let depth = depth.checked_sub(1)?;
    if address.is_global_variable() {
        return Variable::of_global(address).and_then(|variable| Name::of_variable(address, variable));
    }
    match address.opcode().or(address.constant_opcode()) {
        Some(Opcode::LLVMAlloca) => {
            Variable::of_value(address).and_then(|variable| Name::of_variable(address, variable))
        }
        Some(Opcode::LLVMGetElementPtr) => element(address, layout, depth),
        Some(Opcode::LLVMBitCast | Opcode::LLVMAddrSpaceCast) => trace(address.operand(0), layout, depth),
        // The address is the value of a pointer or reference variable.
        Some(Opcode::LLVMLoad) => Some(trace(address.operand(0), layout, depth)?.pointee()),
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke) => subscript(address, layout, depth),
        None if address.is_argument() => {
            let variable = Variable::of_value(address)?;
            let name = Name::of_variable(address, variable)?;
            // A structure that is returned or passed by value lies where the argument leads to; it is not a pointer.
            match name.ty.is_some_and(|ty| ty.pointee().is_none()) {
                true => Some(name),
                false => Some(name.pointee()),
            }
        }
        _ => None,
    }
}

fn element<'c>(address: Value<'c>, layout: Layout<'_>, depth: u32) -> Option<Name<'c>> {
    let base = trace(address.operand(0), layout, depth)?;
    let mut ty = address.gep_source_type()?;
    let mut name = base;
    for (position, &index) in address.operands()[1..].iter().enumerate() {
        if position == 0 {
            name = match index.as_i64() {
                Some(0) => name,
                // Byte steps into a known object are a field; whole steps are an element.
                Some(step) if ty.int_bits() == Some(8) => name.member(u64::try_from(step).ok()?, 8, false)?,
                // `pointers[i]` through a pointer: its element type is what it points to already.
                _ => name.element(plain_index(index)),
            };
            continue;
        }
        match ty.kind() {
            Kind::Struct => {
                let field = index.as_u64()? as u32;
                let inner = *ty.fields().get(field as usize)?;
                name = name.member(layout.offset(ty, field), layout.size(inner), true)?;
                ty = inner;
            }
            Kind::Array(_) | Kind::Vector(_) => {
                let inner =
                    name.ty.and_then(|debug| debug.member(0, layout.size(ty.element()), true)).map(|(_, inner)| inner);
                name = name.element(plain_index(index));
                name.ty = inner;
                ty = ty.element();
            }
            _ => return None,
        }
    }
    Some(name)
}

/// An index before it was widened for address arithmetic.
fn plain_index(index: Value<'_>) -> Value<'_> {
    match index.opcode() {
        Some(Opcode::LLVMSExt | Opcode::LLVMZExt) => index.operand(0),
        _ => index,
    }
}

/// `container[i]`, `container.at(i)`, `.front()`: an element of the object that the method is called on.
fn subscript<'c>(call: Value<'c>, layout: Layout<'_>, depth: u32) -> Option<Name<'c>> {
    let function = call.direct_callee()?;
    let callee = function.name();
    let arguments = call.call_arguments();
    let object = trace(*arguments.first()?, layout, depth)?;
    // Mangled: `ix` is operator[], `2at` a method at().
    let is_method = callee.starts_with("_ZN");
    let named = |part: &str| is_method && callee.contains(part);
    let mut name = match arguments.get(1) {
        Some(&index) if (named("ixE") || named("2atE")) && index.ty().int_bits().is_some() => {
            object.element(plain_index(index))
        }
        None if named("5frontE") => object.element(Value::int(call.types().int(64), 0)),
        _ => return None,
    };
    name.ty = Scope::of_function(function).and_then(Scope::result).and_then(DebugType::pointee);
    Some(name)
}

/// Name of the variable that the result of a call ends up in.
pub(super) fn result_of<'c>(call: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    let mut waiting = vec![call];
    let mut budget = DEPTH;
    while let Some(value) = waiting.pop() {
        budget = budget.checked_sub(1)?;
        for user in value.users() {
            match user.opcode() {
                Some(Opcode::LLVMStore) if user.operand(0) == value => {
                    if let Some(name) = object_at(user.operand(1), layout) {
                        return Some(name);
                    }
                }
                // new[] of objects with destructors hands out what lies after the count.
                Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMPHI) => waiting.push(user),
                _ => {}
            }
        }
    }
    None
}
