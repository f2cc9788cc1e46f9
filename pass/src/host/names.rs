//! Finds the source name of the object at an address, from unoptimised code and its debug information: a variable, a
//! field of a variable, or an element of an array of variables.

use crate::llvm::debug::{DebugType, Scope, Variable};
use crate::llvm::types::Kind;
use crate::llvm::value::Opcode;
use crate::llvm::{Layout, Value};

/// The expression for an object. An index `[…]` whose value is only known when the program runs is stored separately.
#[derive(Clone, Debug, Default)]
pub(super) struct Name<'c> {
    /// The pieces of text; there is an index between each two pieces.
    pub(super) text: Vec<String>,
    /// The indices, which are integers of any width.
    pub(super) indices: Vec<Value<'c>>,
    /// The variable with which the expression begins: a stack slot, argument or global; and this variable's name.
    pub(super) root: Option<Value<'c>>,
    pub(super) root_name: String,
    /// The class to which it is a pointer or reference, if it is one.
    pub(super) root_class: Option<DebugType<'c>>,
    /// Whether the object is not in this variable, but in the memory to which a pointer in the variable refers.
    pub(super) by_address: bool,
    ty: Option<DebugType<'c>>,
    /// Whether the object was reached through this pointer and has no further name yet; a field then follows with `->`.
    through_pointer: bool,
}

/// The maximum number of steps in which a value is traced back.
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

    /// Creates a name that consists only of this text.
    pub(super) fn of_text(text: &str) -> Self {
        Name { text: vec![text.to_owned()], ..Name::default() }
    }

    /// Returns whether the expression is the object of the method itself (`this`).
    pub(super) fn is_this(&self) -> bool {
        self.text == ["this"]
    }

    /// Returns whether the expression is a member of the method's object, for which callers have a name.
    pub(super) fn is_member(&self) -> bool {
        self.root_name == "this" && !self.is_this()
    }

    /// Returns the part `.field` of this object, or the complete object if the suffix is empty.
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

    /// Returns the part of this object at an offset, with a size in bytes; `enter` excludes the object itself.
    fn member(mut self, offset: u64, size: u64, enter: bool) -> Option<Self> {
        let Some(ty) = self.ty else { return (offset == 0).then_some(self) };
        let Some((path, inner)) = ty.member(offset, size, enter) else { return (offset == 0).then_some(self) };
        if path.is_empty() {
            return Some(self);
        }
        match path.strip_prefix('.') {
            // Inside a method, `field` in the source means `this->field`.
            Some(field) if self.through_pointer && self.text == ["this"] => self.text = vec![field.to_owned()],
            Some(field) if self.through_pointer => self.push(&format!("->{field}")),
            _ => self.push(&path),
        }
        self.ty = Some(inner);
        self.through_pointer = false;
        Some(self)
    }

    /// Returns the object to which this pointer or reference refers.
    fn pointee(mut self) -> Self {
        self.through_pointer = !self.ty.is_some_and(DebugType::is_reference);
        self.ty = self.ty.and_then(DebugType::pointee);
        self.by_address = true;
        self
    }

    /// Returns element `index` of this array.
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

/// Returns the name of the object at an address.
pub(super) fn object_at<'c>(address: Value<'c>, layout: Layout<'_>) -> Option<Name<'c>> {
    trace(address, layout, DEPTH)
}

/// Returns the name of the pointer at an address. For a structure that begins with a pointer, this is the name of the
/// field.
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
            // A structure that is returned or passed by value is in the memory to which the argument points; the
            // argument is not a pointer in the source.
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
                // A step in bytes into a known object is a field; a step of whole elements is an element.
                Some(step) if ty.int_bits() == Some(8) => name.member(u64::try_from(step).ok()?, 8, false)?,
                // For `pointers[i]` through a pointer, the type is already that of the elements.
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

/// Returns an index before it was widened for address arithmetic.
fn plain_index(index: Value<'_>) -> Value<'_> {
    match index.opcode() {
        Some(Opcode::LLVMSExt | Opcode::LLVMZExt) => index.operand(0),
        _ => index,
    }
}

/// Returns the name for `container[i]`, `container.at(i)` or `.front()`, which is an element of the method's object.
fn subscript<'c>(call: Value<'c>, layout: Layout<'_>, depth: u32) -> Option<Name<'c>> {
    let function = call.direct_callee()?;
    let callee = function.name();
    let arguments = call.call_arguments();
    let object = trace(*arguments.first()?, layout, depth)?;
    // In mangled names, `ix` is operator[] and `2at` is a method at().
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

/// Returns the name of the variable in which the result of a call is stored.
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
                // For objects with destructors, new[] returns the address after the element count.
                Some(Opcode::LLVMGetElementPtr | Opcode::LLVMBitCast | Opcode::LLVMPHI) => waiting.push(user),
                _ => {}
            }
        }
    }
    None
}
