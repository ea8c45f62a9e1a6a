//! Trees as text with all parentheses, and what is refused.

use super::*;

/// A tree with all parentheses.
fn shown(tree: &Tree) -> String {
    let all = |trees: &[Tree]| trees.iter().map(shown).collect::<Vec<_>>();
    match &tree.node {
        Node::Column(name) => name.clone(),
        Node::Param(name) => format!(":{name}"),
        Node::Const(constant) => match constant {
            Const::Int(value) => value.to_string(),
            Const::Float(value) => format!("{value:?}"),
            other => format!("{other:?}"),
        },
        Node::Negative(inner) => format!("(-{})", shown(inner)),
        Node::Invert(inner) => format!("(~{})", shown(inner)),
        Node::Not(inner) => format!("(not {})", shown(inner)),
        Node::And(terms) => format!("({})", all(terms).join(" and ")),
        Node::Or(terms) => format!("({})", all(terms).join(" or ")),
        Node::Binary(binary, left, right) => {
            format!("({} {} {})", shown(left), binary.sign(), shown(right))
        }
        Node::Compare(first, links) => links.iter().fold(shown(first), |text, (order, right)| {
            format!("{text} {order:?} {}", shown(right))
        }),
        Node::Between { value, ends, negated } => {
            format!("[{} {negated} {} {}]", shown(value), shown(&ends.0), shown(&ends.1))
        }
        Node::In { value, list, negated } => {
            format!("{} in {negated} {}", shown(value), all(list).join(","))
        }
        Node::Is { value, what, negated } => format!("{} is {what:?} {negated}", shown(value)),
        Node::Call { name, arguments } => format!("{name}({})", all(arguments).join(",")),
    }
}

fn of(text: &str) -> String {
    shown(&parse(text).unwrap())
}

fn error(text: &str) -> (String, u64) {
    let error = parse(text).unwrap_err();
    (error.message().to_owned(), error.place().unwrap().offset.unwrap())
}

#[test]
fn powers_bind_as_in_python() {
    assert_eq!(of("a + b * c ** -d ** 2"), "(a + (b * (c ** (-(d ** 2)))))");
    assert_eq!(of("-a ** 2"), "(-(a ** 2))");
    assert_eq!(of("a - b - c"), "((a - b) - c)");
    assert_eq!(of("a // b % c"), "((a // b) % c)");
    assert_eq!(of("a | b ^ c & d << 1 + 1"), "(a | (b ^ (c & (d << (1 + 1)))))");
    assert_eq!(of("not a == b and c or d"), "(((not a Equal b) and c) or d)");
    assert_eq!(of("flags & 4 != 0"), "(flags & 4) NotEqual 0");
    assert_eq!(of("~a & b"), "((~a) & b)");
}

#[test]
fn comparisons_chain_and_have_words() {
    assert_eq!(of("1 < a <= b"), "1 Less a LessEqual b");
    assert_eq!(of("a between 1 and 2 and b"), "([a false 1 2] and b)");
    assert_eq!(of("a not between 1 and 2"), "[a true 1 2]");
    assert_eq!(of("a not in (1, 2,)"), "a in true 1,2");
    assert_eq!(of("a is not nan or b is null"), "(a is Nan true or b is Null false)");
    assert_eq!(of("name contains 'x'"), "contains(name,Text(\"x\"))");
    assert_eq!(of("not isnan(x)"), "(not isnan(x))");
    assert_eq!(of("`and` == nan"), "and Equal NaN");
}

#[test]
fn errors_point_at_the_word() {
    assert_eq!(error("a >"), ("a value was expected, the expression ends here".into(), 3));
    assert_eq!(error("a > 1 b"), ("an operator was expected, such as `and` or `<`".into(), 6));
    assert_eq!(error("(a > 1"), ("`)` was expected to end what began at a parenthesis".into(), 6));
    assert_eq!(error("a > 1 and NOT b > 2"), ("for `NOT`, write not".into(), 10));
    assert_eq!(error("Not (b > 2)"), ("for `Not`, write not".into(), 0));
    assert_eq!(of("NOT > 1 and NOT in (1,)"), "(NOT Greater 1 and NOT in false 1)");
    assert_eq!(error("a) > 1").1, 1);
    assert_eq!(error("a between 1 or 2").1, 12);
    assert_eq!(error("a is 3").1, 5);
    assert_eq!(error("a in [1]").1, 5);
    assert_eq!(error(""), ("the expression is empty".into(), 0));
    assert!(error("a > 1 & b < 2").0.contains("binds more tightly"));
    assert_eq!(error("a > 1 & b < 2").1, 6);
    assert!(parse("a > (1 & b) < 2").is_ok());
}

#[test]
fn depth_and_size_are_bounded_and_long_chains_are_not_deep() {
    let deep = format!("{}a{}", "(".repeat(5000), ")".repeat(5000));
    assert_eq!(parse(&deep).unwrap_err().kind(), crate::error::ErrorKind::LimitExceeded);
    for sign in ["-", "not ", "~"] {
        assert!(parse(&format!("{}a", sign.repeat(5000))).is_err());
    }
    assert!(parse(&vec!["a"; 5000].join("+")).is_err());
    assert!(parse(&vec!["a"; 5000].join("**")).is_err());
    assert!(parse(&vec!["a > 1"; 2000].join(" or ")).is_ok());
    assert!(parse(&vec!["a"; 2000].join(" < ")).is_ok());
    assert!(parse(&vec!["a"; 30_000].join(",")).is_err());
}
