//! Words to a tree, by binding powers (Pratt). They are those of Python:
//!
//! ```text
//!  1  or
//!  3  and
//!  5  not x
//!  7  == != < <= > >=   in (…)   between a and b   is nan   startswith endswith contains
//!  9  |
//! 11  ^
//! 13  &
//! 15  << >>
//! 17  + -
//! 19  * / // %
//! 21  -x  ~x  +x
//! 23  **              right to left
//! ```

use super::lexer::{Token, Word, words, wrong};
use super::tree::{Absence, Binary, Const, Node, Order, Tree};
use super::{MAX_DEPTH, MAX_PARTS};
use crate::error::{Error, Result};

const COMPARISON: u8 = 7;
const SUM: u8 = 17;
const UNARY: u8 = 21;
const POWER: u8 = 23;

/// Words that are no columns unless they stand in backticks.
const KEYWORDS: [&str; 17] = [
    "and",
    "or",
    "not",
    "in",
    "between",
    "is",
    "nan",
    "null",
    "nat",
    "inf",
    "true",
    "false",
    "True",
    "False",
    "startswith",
    "endswith",
    "contains",
];

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Tree> {
    let mut parser = Parser { tokens: words(text)?, next: 0, level: 0, parts: 0 };
    if parser.peek() == &Word::End {
        return Err(wrong(0, "the expression is empty"));
    }
    let tree = parser.expression(0)?;
    match parser.peek() {
        Word::End => Ok(tree),
        Word::Sign(")") => Err(wrong(parser.at(), "this parenthesis was never opened")),
        Word::Name(word) if KEYWORDS.contains(&word.to_lowercase().as_str()) => {
            let words = format!("for `{word}`, write {}", word.to_lowercase());
            Err(wrong(parser.at(), words))
        }
        _ => Err(wrong(parser.at(), "an operator was expected, such as `and` or `<`")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    /// How deep the parser itself is.
    level: usize,
    parts: usize,
}

impl Parser {
    fn peek(&self) -> &Word {
        self.tokens.get(self.next).map_or(&Word::End, |token| &token.word)
    }

    fn at(&self) -> usize {
        let last = self.tokens.last().map_or(0, |token| token.at);
        self.tokens.get(self.next).map_or(last, |token| token.at)
    }

    fn take(&mut self) -> Word {
        let word = self.peek().clone();
        self.next += 1;
        word
    }

    fn eat_sign(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Word::Sign(other) if *other == sign);
        self.next += usize::from(found);
        found
    }

    fn is_keyword(&self, ahead: usize, keyword: &str) -> bool {
        let token = self.tokens.get(self.next + ahead);
        matches!(token.map(|t| &t.word), Some(Word::Name(name)) if name == keyword)
    }

    fn eat_keyword(&mut self, keyword: &str) -> bool {
        let found = self.is_keyword(0, keyword);
        self.next += usize::from(found);
        found
    }

    fn expect_sign(&mut self, sign: &str, why: &str) -> Result<()> {
        if self.eat_sign(sign) {
            return Ok(());
        }
        Err(wrong(self.at(), format!("`{sign}` was expected {why}")))
    }

    /// A new part, unless there are too many or they lie too deep.
    fn part(&mut self, at: usize, node: Node, inner: usize) -> Result<Tree> {
        self.parts += 1;
        if inner >= MAX_DEPTH || self.parts > MAX_PARTS {
            let message = format!("at most {MAX_PARTS} parts, {MAX_DEPTH} inside of each other");
            return Err(Error::limit(message).at("expression", "text", at));
        }
        Ok(Tree { node, at, depth: inner + 1, enclosed: false })
    }

    /// Everything that binds more strongly than `power`.
    fn expression(&mut self, power: u8) -> Result<Tree> {
        self.level += 1;
        if self.level > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} parts lie inside of each other");
            return Err(Error::limit(message).at("expression", "text", self.at()));
        }
        let mut left = self.prefix()?;
        while let Some((strength, operator)) = self.operator().filter(|(s, _)| *s > power) {
            left = match operator {
                Operator::Or => self.chain(left, "or", strength)?,
                Operator::And => self.chain(left, "and", strength)?,
                Operator::Comparison => self.comparison(left)?,
                Operator::Binary(binary) => self.binary(left, binary, strength)?,
            };
        }
        self.level -= 1;
        Ok(left)
    }

    /// Whether the next word is one that only a value begins with.
    fn begins_value(&self) -> bool {
        match self.peek() {
            Word::Sign(sign) => *sign == "(",
            Word::End => false,
            _ => self.operator().is_none(),
        }
    }

    fn operator(&self) -> Option<(u8, Operator)> {
        use Operator as O;
        let word = match self.peek() {
            Word::Sign(sign) => *sign,
            Word::Name(name) => name.as_str(),
            _ => return None,
        };
        Some(match word {
            "or" => (1, O::Or),
            "and" => (3, O::And),
            "==" | "!=" | "<" | "<=" | ">" | ">=" => (COMPARISON, O::Comparison),
            "in" | "between" | "is" | "not" => (COMPARISON, O::Comparison),
            "startswith" | "endswith" | "contains" => (COMPARISON, O::Comparison),
            "|" => (9, O::Binary(Binary::Or)),
            "^" => (11, O::Binary(Binary::Xor)),
            "&" => (13, O::Binary(Binary::And)),
            "<<" => (15, O::Binary(Binary::ShiftLeft)),
            ">>" => (15, O::Binary(Binary::ShiftRight)),
            "+" => (SUM, O::Binary(Binary::Add)),
            "-" => (SUM, O::Binary(Binary::Subtract)),
            "*" => (19, O::Binary(Binary::Multiply)),
            "/" => (19, O::Binary(Binary::Divide)),
            "//" => (19, O::Binary(Binary::FloorDivide)),
            "%" => (19, O::Binary(Binary::Remainder)),
            "**" => (POWER, O::Binary(Binary::Power)),
            _ => return None,
        })
    }

    /// `a and b and c` as one part.
    fn chain(&mut self, first: Tree, keyword: &str, strength: u8) -> Result<Tree> {
        let at = first.at;
        let mut terms = vec![first];
        while self.eat_keyword(keyword) {
            terms.push(self.expression(strength)?);
        }
        let depth = terms.iter().map(|term| term.depth).max().unwrap_or(0);
        let node = if keyword == "or" { Node::Or(terms) } else { Node::And(terms) };
        self.part(at, node, depth)
    }

    fn binary(&mut self, left: Tree, binary: Binary, strength: u8) -> Result<Tree> {
        let at = self.at();
        self.next += 1;
        // A power's right side may have a sign, and reaches as far right as it can.
        let right = match binary {
            Binary::Power => self.expression(UNARY - 1)?,
            _ => self.expression(strength)?,
        };
        let depth = left.depth.max(right.depth);
        self.part(at, Node::Binary(binary, Box::new(left), Box::new(right)), depth)
    }

    /// One comparison or a chain of them, or what else stands in their place.
    fn comparison(&mut self, value: Tree) -> Result<Tree> {
        let at = self.at();
        if let Word::Sign(_) = self.peek() {
            return self.compared(value);
        }
        if self.eat_keyword("is") {
            return self.is(value, at);
        }
        let negated = self.eat_keyword("not");
        let word = self.take();
        match word {
            Word::Name(name) if name == "in" => self.list(value, negated, at),
            Word::Name(name) if name == "between" => {
                let low = self.expression(COMPARISON)?;
                if !self.eat_keyword("and") {
                    return Err(wrong(self.at(), "`and` was expected: `between low and high`"));
                }
                let high = self.expression(COMPARISON)?;
                let depth = value.depth.max(low.depth).max(high.depth);
                let ends = Box::new((low, high));
                self.part(at, Node::Between { value: Box::new(value), ends, negated }, depth)
            }
            Word::Name(name) if matches!(name.as_str(), "startswith" | "endswith" | "contains") => {
                let needle = self.expression(COMPARISON)?;
                let depth = value.depth.max(needle.depth);
                let call = Node::Call { name, arguments: vec![value, needle] };
                let call = self.part(at, call, depth)?;
                match negated {
                    true => self.part(at, Node::Not(Box::new(call)), depth + 1),
                    false => Ok(call),
                }
            }
            _ => Err(wrong(at, "after `not`, `in`, `between` or `contains` was expected here")),
        }
    }

    fn compared(&mut self, first: Tree) -> Result<Tree> {
        let at = self.at();
        let mut depth = first.depth;
        let mut links: Vec<(Order, Tree)> = Vec::new();
        while let Some(order) = match self.peek() {
            Word::Sign(sign) => Order::of(sign),
            _ => None,
        } {
            if let Some((_, middle)) = links.last() {
                refuse_tight_bits(middle)?;
            }
            self.next += 1;
            let right = self.expression(COMPARISON)?;
            depth = depth.max(right.depth);
            links.push((order, right));
        }
        self.part(at, Node::Compare(Box::new(first), links), depth)
    }

    fn is(&mut self, value: Tree, at: usize) -> Result<Tree> {
        let negated = self.eat_keyword("not");
        let what = match self.peek() {
            Word::Name(name) => match name.to_ascii_lowercase().as_str() {
                "nan" => Some(Absence::Nan),
                "null" | "nat" | "none" => Some(Absence::Null),
                _ => None,
            },
            _ => None,
        };
        let Some(what) = what else {
            return Err(wrong(
                self.at(),
                "after `is`, `nan` or `null` was expected, or `not` first",
            ));
        };
        self.next += 1;
        let depth = value.depth;
        self.part(at, Node::Is { value: Box::new(value), what, negated }, depth)
    }

    fn list(&mut self, value: Tree, negated: bool, at: usize) -> Result<Tree> {
        if matches!(self.peek(), Word::Sign("[")) {
            return Err(wrong(self.at(), "a list stands in parentheses: in (1, 2, 3)"));
        }
        self.expect_sign("(", "after `in`")?;
        let list = self.arguments()?;
        let depth = list.iter().map(|item| item.depth).fold(value.depth, usize::max);
        self.part(at, Node::In { value: Box::new(value), list, negated }, depth)
    }

    /// What stands between commas up to the closing parenthesis; a comma may be the last.
    fn arguments(&mut self) -> Result<Vec<Tree>> {
        let mut arguments = Vec::new();
        loop {
            if self.eat_sign(")") {
                return Ok(arguments);
            }
            arguments.push(self.expression(0)?);
            if !self.eat_sign(",") {
                self.expect_sign(")", "or a comma")?;
                return Ok(arguments);
            }
        }
    }

    fn prefix(&mut self) -> Result<Tree> {
        let at = self.at();
        let constant = |constant| Node::Const(constant);
        let node = match self.take() {
            Word::Int(value) => constant(Const::Int(value)),
            Word::Float(value) => constant(Const::Float(value)),
            Word::Text(text) => constant(Const::Text(text)),
            Word::Bytes(bytes) => constant(Const::Bytes(bytes)),
            Word::Param(name) => Node::Param(name),
            Word::Quoted(name) => Node::Column(name),
            Word::Name(name) => return self.named(name, at),
            Word::Sign("(") => {
                let mut inner = self.expression(0)?;
                self.expect_sign(")", "to end what began at a parenthesis")?;
                inner.enclosed = true;
                return Ok(inner);
            }
            Word::Sign("+") => return self.expression(UNARY - 1),
            Word::Sign(sign @ ("-" | "~")) => {
                let inner = Box::new(self.expression(UNARY - 1)?);
                let depth = inner.depth;
                let node = if sign == "-" { Node::Negative(inner) } else { Node::Invert(inner) };
                return self.part(at, node, depth);
            }
            Word::Sign(sign) => {
                return Err(wrong(at, format!("a value was expected, not `{sign}`")));
            }
            Word::End => return Err(wrong(at, "a value was expected, the expression ends here")),
        };
        self.part(at, node, 0)
    }

    fn named(&mut self, name: String, at: usize) -> Result<Tree> {
        let node = match name.as_str() {
            "not" => {
                let inner = Box::new(self.expression(5)?);
                let depth = inner.depth;
                return self.part(at, Node::Not(inner), depth);
            }
            "true" | "True" => Node::Const(Const::Bool(true)),
            "false" | "False" => Node::Const(Const::Bool(false)),
            _ if name.eq_ignore_ascii_case("not") && self.begins_value() => {
                return Err(wrong(at, format!("for `{name}`, write not")));
            }
            _ if self.eat_sign("(") => {
                let arguments = self.arguments()?;
                let depth = arguments.iter().map(|item| item.depth).max().unwrap_or(0);
                return self.part(at, Node::Call { name, arguments }, depth);
            }
            "nan" => Node::Const(Const::Float(f64::NAN)),
            "inf" => Node::Const(Const::Float(f64::INFINITY)),
            _ if KEYWORDS.contains(&name.as_str()) => {
                let message =
                    format!("a value was expected, not `{name}` (a column: `{name}` in backticks)");
                return Err(wrong(at, message));
            }
            _ => Node::Column(name),
        };
        self.part(at, node, 0)
    }
}

enum Operator {
    Or,
    And,
    Comparison,
    Binary(Binary),
}

/// `a > 1 & b < 2` is `a > (1 & b) < 2`, which nobody means.
fn refuse_tight_bits(middle: &Tree) -> Result<()> {
    match &middle.node {
        Node::Binary(bits @ (Binary::And | Binary::Or | Binary::Xor), ..) if !middle.enclosed => {
            let sign = bits.sign();
            Err(wrong(
                middle.at,
                format!(
                    "`{sign}` binds more tightly than comparisons: write `and`, `or`, or parentheses"
                ),
            ))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
