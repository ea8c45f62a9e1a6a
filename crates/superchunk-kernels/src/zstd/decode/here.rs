//! A hint for the compiler.

/// The same number, which the compiler must have at this place and in a register.
///
/// Left to itself it computes numbers where they are used, and has to keep all that they come from
/// until then; and it makes short loops long.
#[inline(always)]
pub(super) fn here(number: usize) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut number = number;
        // SAFETY: there is no instruction in it.
        unsafe {
            core::arch::asm!("/* {} */", inout(reg) number, options(nomem, nostack, preserves_flags));
        }
        number
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    number
}
