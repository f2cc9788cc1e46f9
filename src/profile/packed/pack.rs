//! Encoding of the values in a section: numbers, texts, and lists and maps of them. Decoding overwrites existing values
//! in place, so reading the next rank allocates no new memory.

use std::collections::BTreeMap;

use super::reader::{Broken, Reader};
use super::writer::Writer;

/// A value that can be stored in a section.
pub(super) trait Pack: Default {
    /// Describes the value's encoding. Values with different encodings have different descriptions.
    fn describe(to: &mut String);
    fn pack(&self, to: &mut Writer);
    /// Decodes a value and overwrites `self`.
    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken>;
}

/// Describes the encoding of a field.
pub(super) fn describe_field<S, T: Pack>(_: fn(&S) -> &T, to: &mut String) {
    T::describe(to);
}

macro_rules! numbers {
    ($($number:ty)*) => { $(
        impl Pack for $number {
            fn describe(to: &mut String) {
                to.push_str(stringify!($number));
            }

            fn pack(&self, to: &mut Writer) {
                to.number(u64::from(*self));
            }

            #[inline]
            fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
                *self = <$number>::try_from(from.number()?).map_err(|_| Broken)?;
                Ok(())
            }
        }
    )* };
}

numbers! { u32 u64 }

macro_rules! signed_numbers {
    ($($number:ty)*) => { $(
        impl Pack for $number {
            fn describe(to: &mut String) {
                to.push_str(stringify!($number));
            }

            fn pack(&self, to: &mut Writer) {
                let number = i64::from(*self);
                to.number((number << 1 ^ number >> 63) as u64);
            }

            fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
                let number = from.number()?;
                let number = (number >> 1) as i64 ^ -((number & 1) as i64);
                *self = <$number>::try_from(number).map_err(|_| Broken)?;
                Ok(())
            }
        }
    )* };
}

signed_numbers! { i32 i64 }

impl Pack for crate::model::Wide {
    fn describe(to: &mut String) {
        to.push_str("wide");
    }

    fn pack(&self, to: &mut Writer) {
        to.number(self.0 as u64);
        to.number((self.0 >> 64) as u64);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        let low = from.number()?;
        self.0 = u128::from(from.number()?) << 64 | u128::from(low);
        Ok(())
    }
}

impl Pack for bool {
    fn describe(to: &mut String) {
        to.push_str("bool");
    }

    fn pack(&self, to: &mut Writer) {
        to.number(u64::from(*self));
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        *self = match from.number()? {
            0 => false,
            1 => true,
            _ => return Err(Broken),
        };
        Ok(())
    }
}

impl Pack for f64 {
    fn describe(to: &mut String) {
        to.push_str("f64");
    }

    fn pack(&self, to: &mut Writer) {
        to.float(*self);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        *self = from.float()?;
        Ok(())
    }
}

/// Replaces a text that is usually unchanged.
pub(super) fn replace(text: &mut String, other: &str) {
    if text != other {
        text.clear();
        text.push_str(other);
    }
}

impl Pack for String {
    fn describe(to: &mut String) {
        to.push_str("text");
    }

    fn pack(&self, to: &mut Writer) {
        to.name(self);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        replace(self, from.name()?);
        Ok(())
    }
}

impl<T: Pack> Pack for Option<T> {
    fn describe(to: &mut String) {
        to.push('?');
        T::describe(to);
    }

    fn pack(&self, to: &mut Writer) {
        self.is_some().pack(to);
        if let Some(value) = self {
            value.pack(to);
        }
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        let mut there = false;
        there.unpack(from)?;
        if there {
            self.get_or_insert_default().unpack(from)
        } else {
            *self = None;
            Ok(())
        }
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn describe(to: &mut String) {
        to.push('*');
        T::describe(to);
    }

    fn pack(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        let count = from.count()?;
        self.truncate(count);
        for value in &mut *self {
            value.unpack(from)?;
        }
        for _ in self.len()..count {
            let mut value = T::default();
            value.unpack(from)?;
            self.push(value);
        }
        Ok(())
    }
}

impl<T: Pack, const N: usize> Pack for [T; N]
where
    [T; N]: Default,
{
    fn describe(to: &mut String) {
        to.push_str(&N.to_string());
        T::describe(to);
    }

    fn pack(&self, to: &mut Writer) {
        self.iter().for_each(|value| value.pack(to));
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        self.iter_mut().try_for_each(|value| value.unpack(from))
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn describe(to: &mut String) {
        to.push('(');
        A::describe(to);
        B::describe(to);
        to.push(')');
    }

    fn pack(&self, to: &mut Writer) {
        self.0.pack(to);
        self.1.pack(to);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        self.0.unpack(from)?;
        self.1.unpack(from)
    }
}

/// All keys precede the values. If the keys are unchanged, the values are decoded in place.
impl<V: Pack> Pack for BTreeMap<String, V> {
    fn describe(to: &mut String) {
        to.push('%');
        V::describe(to);
    }

    fn pack(&self, to: &mut Writer) {
        to.number(self.len() as u64);
        self.keys().for_each(|key| to.name(key));
        self.values().for_each(|value| value.pack(to));
    }

    fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
        let count = from.count()?;
        let mut keys = from.ahead();
        let same = count == self.len() && self.keys().all(|key| keys.name().is_ok_and(|name| name == key));
        if same {
            let rest = keys.rest();
            from.skip_to(rest);
            return self.values_mut().try_for_each(|value| value.unpack(from));
        }
        self.clear();
        let mut names = Vec::with_capacity(count);
        for _ in 0..count {
            names.push(from.name()?);
        }
        for name in names {
            let mut value = V::default();
            value.unpack(from)?;
            self.insert(name.to_owned(), value);
        }
        if self.len() == count { Ok(()) } else { Err(Broken) }
    }
}

/// Defines the encoding of a structure: its fields in order, then the fields that are stored as JSON. `without` lists
/// the fields that merging does not read.
macro_rules! pack {
    ($($name:ident { $($field:ident)* $(; json $($json:ident)*)? $(; without $($without:ident)*)? })*) => { $(
        impl Pack for $name {
            fn describe(to: &mut String) {
                to.push_str(concat!("\n", stringify!($name), "{"));
                $(
                    to.push_str(concat!(" ", stringify!($field), ":"));
                    describe_field(|of: &$name| &of.$field, to);
                )*
                $($( to.push_str(concat!(" json ", stringify!($json))); )*)?
                to.push('}');
            }

            fn pack(&self, to: &mut Writer) {
                // All fields are listed, so that the compiler detects omissions.
                let $name { $($field,)* $($($json,)*)? $($($without: _,)*)? } = self;
                $( $field.pack(to); )*
                $($( to.json($json); )*)?
            }

            fn unpack(&mut self, from: &mut Reader<'_>) -> Result<(), Broken> {
                $( self.$field.unpack(from)?; )*
                $($( self.$json = from.json()?; )*)?
                $($( self.$without = Default::default(); )*)?
                Ok(())
            }
        }
    )* };
}

pub(super) use pack;
