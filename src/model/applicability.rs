//! The kinds of targets that a test applies to.

use std::fmt;

/// The kinds of targets that a test applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// Targets with an adapter, which builds the fixture.
    AdapterOnly,
    /// Targets with an adapter, and fixed targets that have an equivalent of the fixture.
    AlsoFixed(Inside),
    /// Fixed servers that list these tools; the fixture is empty.
    FixedOnly(Vec<Listed>),
}

impl Applicability {
    /// Returns the tools that a fixed server has to list.
    pub fn listed(&self) -> &[Listed] {
        match self {
            Self::AlsoFixed(Inside::Tools(listed)) | Self::FixedOnly(listed) => listed,
            Self::AdapterOnly | Self::AlsoFixed(Inside::Scenario(_)) => &[],
        }
    }

    /// Returns the name of the script that a fixed client needs to have.
    pub fn scenario(&self) -> Option<&str> {
        match self {
            Self::AlsoFixed(Inside::Scenario(name)) => Some(name),
            Self::AdapterOnly | Self::AlsoFixed(Inside::Tools(_)) | Self::FixedOnly(_) => None,
        }
    }
}

/// The equivalent of a fixture in a fixed target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inside {
    /// A server has these tools.
    Tools(Vec<Listed>),
    /// A client has a script of this name.
    Scenario(String),
}

/// A tool that a fixed server has to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Any tool.
    Any,
    /// The tool with this name.
    Named(String),
}

impl Listed {
    /// Returns whether the tool is in a list of names.
    pub fn is_among(&self, names: &[String]) -> bool {
        match self {
            Self::Any => !names.is_empty(),
            Self::Named(name) => names.contains(name),
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("tool"),
            Self::Named(name) => write!(f, "tool `{name}`"),
        }
    }
}
