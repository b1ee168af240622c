//! The tools that casebook may call on a server whose tools it did not write.

use std::fmt;

use serde_json::Value;

use super::case::Test;

/// The tools of a fixed server that casebook may call with arguments that the tool accepts.
///
/// A call of such a tool has the effects that the author of the server gave it, which casebook cannot know. Only a
/// person can permit it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Callable {
    /// Set if every tool that the server lists may be called.
    pub every: bool,
    /// The calls that are permitted by name, as far as the server lists the tools.
    pub named: Vec<Permitted>,
}

/// A tool that may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permitted {
    /// The tool.
    pub tool: String,
    /// The arguments to call it with; derived from its listed schema if none are given.
    pub arguments: Option<Value>,
}

impl Callable {
    /// Every tool that the server lists.
    pub fn all() -> Self {
        Self { every: true, named: Vec::new() }
    }

    /// Returns whether the tool with this name may be called.
    pub fn allows(&self, tool: &str) -> bool {
        self.every || self.named.iter().any(|one| one.tool == tool)
    }

    /// Returns the arguments that are given for this tool.
    pub fn arguments(&self, tool: &str) -> Vec<&Value> {
        self.named.iter().filter(|one| one.tool == tool).filter_map(|one| one.arguments.as_ref()).collect()
    }

    /// Returns the first tool that a test calls by name although it may not be called, on a server that lists tools with
    /// these names. Without a list that can be read, a tool of any name may exist.
    pub fn forbidden<'t>(&self, test: &'t Test, names: Option<&[String]>) -> Option<&'t str> {
        let may_exist = |name: &str| names.is_none_or(|names| names.iter().any(|listed| listed == name));
        let mut called = test.steps.iter().filter_map(|step| step.when.tool());
        called.find(|name| may_exist(name) && !self.allows(name))
    }

    /// Returns whether no tool at all may be called.
    pub fn is_none(&self) -> bool {
        !self.every && self.named.is_empty()
    }
}

impl fmt::Display for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.named.iter().map(|one| format!("`{}`", one.tool)).collect();
        match names.as_slice() {
            _ if self.every => f.write_str("every tool"),
            [] => f.write_str("no tool"),
            names => f.write_str(&names.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permitted_tools_are_callable() {
        let echo = Permitted { tool: "echo".to_owned(), arguments: Some(7.into()) };
        let named = Callable { every: false, named: vec![echo.clone()] };
        for (callable, [allows_echo, other, none], text) in [
            (Callable::default(), [false, false, true], "no tool"),
            (Callable::all(), [true, true, false], "every tool"),
            (named, [true, false, false], "`echo`"),
            (Callable { every: true, named: vec![echo] }, [true, true, false], "every tool"),
        ] {
            assert_eq!(
                [callable.allows("echo"), callable.allows("Echo"), callable.is_none()],
                [allows_echo, other, none]
            );
            assert_eq!(callable.to_string(), text);
            assert_eq!(callable.arguments("echo").is_empty(), callable.named.is_empty());
        }
    }
}
