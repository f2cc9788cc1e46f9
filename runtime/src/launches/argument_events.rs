//! Writes the arguments of a launch that address expressions use to the trace.

use crate::modules::module::Member;
use crate::modules::module::array;
use crate::state::runtime::Runtime;
use warpline_format::abi::Parameter;
use warpline_format::event::{Argument, ArgumentValue, Event, LaunchId};

impl Runtime {
    /// Writes the values of the parameters that the module's expressions use. Other parameters are not written, because
    /// padding of structures and host pointers differ between runs.
    pub(crate) fn write_arguments(&mut self, launch: LaunchId, (member, function): (Member, u32), parameters: &[u64]) {
        let module = &self.modules[member.module];
        let Some(kernel) = module.kernels().get(member.index) else { return };
        let names = &module.table.parameters;
        let first = names.partition_point(|one| one.function < function);
        let read = names[first..].iter().take_while(|one| one.function == function);
        let values: Vec<Argument> = read
            .filter_map(|one| {
                // SAFETY: the array belongs to the module and is valid while the module is registered.
                let all = unsafe { array(kernel.parameters, u64::from(kernel.parameter_count)) };
                let Parameter { offset, size } = *all.get(one.parameter as usize)?;
                let end = one.offset.checked_add(one.bytes)?;
                if end > size || one.bytes > 8 {
                    return None;
                }
                let bytes = bytes_at(parameters, offset + one.offset, one.bytes)?;
                let live = (one.bytes == 8).then(|| self.memory.registry.find(bytes)).flatten();
                let value = live.map_or(ArgumentValue::Bits(bytes), |live| ArgumentValue::Pointer {
                    allocation: live.id,
                    offset: bytes - live.start(),
                });
                Some(Argument { parameter: one.parameter, offset: one.offset, bytes: one.bytes, value })
            })
            .collect();
        if !values.is_empty() {
            self.trace.event(Event::Arguments { launch, values });
        }
    }
}

/// Returns bytes of a parameter buffer as a number.
fn bytes_at(parameters: &[u64], offset: u32, count: u32) -> Option<u64> {
    (0..count).try_fold(0u64, |sum, byte| {
        let at = (offset + byte) as usize;
        let found = parameters.get(at / 8)? >> (8 * (at % 8)) & 0xff;
        Some(sum | found << (8 * byte))
    })
}

#[cfg(test)]
mod tests {
    use super::bytes_at;

    #[test]
    fn bytes_are_read_across_words_and_not_beyond() {
        let buffer = [0x0807_0605_0403_0201, 0x100f_0e0d_0c0b_0a09];
        assert_eq!(bytes_at(&buffer, 6, 4), Some(0x0a09_0807));
        assert_eq!(bytes_at(&buffer, 0, 8), Some(buffer[0]));
        assert_eq!(bytes_at(&buffer, 12, 4), Some(0x100f_0e0d));
        assert_eq!(bytes_at(&buffer, 12, 8), None);
    }
}
