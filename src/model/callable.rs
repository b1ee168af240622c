//! The tools that casebook may call on a server whose tools it did not write.

use std::fmt;

use super::case::Test;

/// The tools of a fixed server that casebook may call with arguments that the tool accepts.
///
/// A call of such a tool has the effects that the author of the server gave it, which casebook cannot know. Only a
/// person can permit it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Callable {
    /// No tool.
    #[default]
    None,
    /// Every tool that the server lists.
    All,
    /// The tools with these names, as far as the server lists them.
    Named(Vec<String>),
}

impl Callable {
    /// Returns whether the tool with this name may be called.
    pub fn allows(&self, tool: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| name == tool),
        }
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
        match self {
            Self::None => true,
            Self::All => false,
            Self::Named(names) => names.is_empty(),
        }
    }
}

impl fmt::Display for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            _ if self.is_none() => f.write_str("no tool"),
            Self::None | Self::All => f.write_str("every tool"),
            Self::Named(names) => {
                let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
                f.write_str(&names.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_permitted_tools_are_callable() {
        let named = Callable::Named(vec!["echo".to_owned()]);
        assert_eq!(Callable::default(), Callable::None);
        for (callable, [echo, other, none]) in [
            (Callable::None, [false, false, true]),
            (Callable::All, [true, true, false]),
            (named, [true, false, false]),
            (Callable::Named(Vec::new()), [false, false, true]),
        ] {
            assert_eq!([callable.allows("echo"), callable.allows("Echo"), callable.is_none()], [echo, other, none]);
        }
    }
}
