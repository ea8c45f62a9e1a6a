//! An expression as it was written, before columns are known.

/// A part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(super) node: Node,
    /// Where it begins in the text.
    pub(super) at: usize,
    /// How many parts lie inside of each other.
    pub(super) depth: usize,
    /// Whether it stands in parentheses.
    pub(super) enclosed: bool,
}

/// What a part can be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    Column(String),
    Param(String),
    Const(Const),
    Negative(Box<Tree>),
    Invert(Box<Tree>),
    Not(Box<Tree>),
    /// Two or more, so that long chains are not deep.
    And(Vec<Tree>),
    Or(Vec<Tree>),
    Binary(Binary, Box<Tree>, Box<Tree>),
    /// The first, and what it is compared with one after the other.
    Compare(Box<Tree>, Vec<(Order, Tree)>),
    Between {
        value: Box<Tree>,
        ends: Box<(Tree, Tree)>,
        negated: bool,
    },
    In {
        value: Box<Tree>,
        list: Vec<Tree>,
        negated: bool,
    },
    Is {
        value: Box<Tree>,
        what: Absence,
        negated: bool,
    },
    Call {
        name: String,
        arguments: Vec<Tree>,
    },
}

/// A value that does not depend on the row.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// A truth.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A text; beside moments and durations, how they are written.
    Text(String),
    /// Bytes of text.
    Bytes(Vec<u8>),
}

/// What arithmetic there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
    Power,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    /// Only as functions.
    Least,
    Greatest,
    Arctan2,
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// What is asked for by `is`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    Nan,
    Null,
}

impl Order {
    pub(super) fn of(sign: &str) -> Option<Self> {
        Some(match sign {
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            _ => return None,
        })
    }

    /// The same with the sides exchanged.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::LessEqual => Self::GreaterEqual,
            Self::Greater => Self::Less,
            Self::GreaterEqual => Self::LessEqual,
            same => same,
        }
    }
}

impl Binary {
    /// The sign, for messages.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::FloorDivide => "//",
            Self::Remainder => "%",
            Self::Power => "**",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Least => "min",
            Self::Greatest => "max",
            Self::Arctan2 => "arctan2",
        }
    }
}

macro_rules! consts {
    ($($variant:ident: $($rust:ty)*;)*) => {$($(
        impl From<$rust> for Const {
            fn from(value: $rust) -> Self {
                Self::$variant(value.into())
            }
        }
    )*)*};
}

consts! {
    Bool: bool;
    Int: i8 i16 i32 i64 i128 u8 u16 u32 u64;
    Float: f32 f64;
    Text: &str String;
    Bytes: &[u8] Vec<u8>;
}
