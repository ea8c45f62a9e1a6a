//! Licence expressions of manifests: whether the licences that we allow are enough to use a crate.
//!
//! An expression joins SPDX names with `OR` and `AND`, of which `AND` binds closer. `A WITH B` is
//! one licence with an exception. Parentheses group; the `/` of old manifests means `OR`.

use std::iter::Peekable;
use std::str::SplitWhitespace;

use crate::step::Outcome;

/// Returns whether the allowed licences satisfy an expression; an expression that cannot be read is
/// an error.
pub(crate) fn is_satisfied(expression: &str, allowed: &[String]) -> Outcome<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut parser = Parser { words: spaced.split_whitespace().peekable(), allowed };
    let satisfied = parser.alternatives()?;
    match parser.words.next() {
        None => Ok(satisfied),
        Some(word) => Err(format!("expected OR or AND before '{word}'")),
    }
}

struct Parser<'a> {
    words: Peekable<SplitWhitespace<'a>>,
    allowed: &'a [String],
}

impl Parser<'_> {
    /// Reads `A OR B OR …`.
    fn alternatives(&mut self) -> Outcome<bool> {
        let mut satisfied = self.requirements()?;
        while self.words.next_if_eq(&"OR").is_some() {
            satisfied |= self.requirements()?;
        }
        Ok(satisfied)
    }

    /// Reads `A AND B AND …`.
    fn requirements(&mut self) -> Outcome<bool> {
        let mut satisfied = self.licence()?;
        while self.words.next_if_eq(&"AND").is_some() {
            satisfied &= self.licence()?;
        }
        Ok(satisfied)
    }

    /// Reads `A`, `A WITH B` or an expression in parentheses.
    fn licence(&mut self) -> Outcome<bool> {
        let word = self.words.next();
        if word == Some("(") {
            let satisfied = self.alternatives()?;
            let closed = self.words.next_if_eq(&")").is_some();
            return if closed { Ok(satisfied) } else { Err("expected a ')'".into()) };
        }
        let mut licence = name(word)?.to_owned();
        if self.words.next_if_eq(&"WITH").is_some() {
            licence = format!("{licence} WITH {}", name(self.words.next())?);
        }
        Ok(self.allowed.contains(&licence))
    }
}

fn name(word: Option<&str>) -> Outcome<&str> {
    match word {
        None => Err("expected the name of a licence at the end".into()),
        Some(word @ ("(" | ")" | "OR" | "AND" | "WITH")) => {
            Err(format!("expected the name of a licence, got '{word}'"))
        }
        Some(word) => Ok(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Evaluates an expression with `A`, `B` and `C WITH E` allowed.
    fn evaluate(expression: &str) -> Outcome<bool> {
        is_satisfied(expression, &["A", "B", "C WITH E"].map(String::from))
    }

    #[test]
    fn allowed_licences_satisfy() {
        let expressions =
            ["A", "A OR X", "X OR A", "X/A", "A/X", "A AND B", "(A)", "X OR (A AND B)", "C WITH E"];
        for expression in expressions {
            assert_eq!(evaluate(expression), Ok(true), "{expression}");
        }
    }

    #[test]
    fn other_licences_do_not_satisfy() {
        let expressions =
            ["X", "a", "A+", "X OR Y", "X/Y", "A AND X", "X AND A", "(A OR B) AND X", "X AND (A)"];
        for expression in expressions {
            assert_eq!(evaluate(expression), Ok(false), "{expression}");
        }
    }

    #[test]
    fn an_exception_makes_another_licence() {
        for expression in ["C", "A WITH E", "C WITH F", "C WITH F OR C"] {
            assert_eq!(evaluate(expression), Ok(false), "{expression}");
        }
        assert_eq!(evaluate("C WITH F OR C WITH E"), Ok(true));
        assert_eq!(evaluate("A WITH E OR A OR X"), Ok(true));
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert_eq!(evaluate("A OR X AND Y"), Ok(true));
        assert_eq!(evaluate("X AND Y OR A"), Ok(true));
        assert_eq!(evaluate("(A OR X) AND Y"), Ok(false));
        assert_eq!(evaluate("(X OR A) AND B"), Ok(true));
    }

    #[test]
    fn unreadable_expressions_are_errors() {
        let expressions = [
            "",
            "()",
            "(A",
            "A)",
            "A B",
            "A OR",
            "OR A",
            "A AND OR B",
            "A WITH",
            "WITH E",
            "A//B",
            "A WITH (E)",
            "(A) WITH E",
            "A or B",
        ];
        for expression in expressions {
            assert!(evaluate(expression).is_err(), "{expression}");
        }
    }
}
