//! Rust types that are item types.

use bytemuck::Pod;

use super::{DKind, DType};

/// A Rust number that an array can be read into.
pub trait Element: Pod {
    /// Its type, in the byte order of this machine.
    fn dtype() -> DType;
}

macro_rules! elements {
    ($($kind:ident: $($rust:ty)*;)*) => {$($(
        impl Element for $rust {
            fn dtype() -> DType {
                DType::plain(DKind::$kind, size_of::<$rust>())
            }
        }
    )*)*};
}

elements! {
    Int: i8 i16 i32 i64;
    Uint: u8 u16 u32 u64;
    Float: f32 f64;
}
