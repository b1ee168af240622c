//! Of which targets a test is asked: those whose adapter builds its fixture, and those that have the like inside.

use std::fmt;

/// Of which targets a test is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// Of those whose adapter builds the fixture.
    AdapterOnly,
    /// Of these, and of the fixed ones that have this inside.
    AlsoFixed(Inside),
    /// Of fixed servers that list these tools; the fixture is empty.
    FixedOnly(Vec<Listed>),
}

impl Applicability {
    /// What a fixed server has to list.
    pub fn listed(&self) -> &[Listed] {
        match self {
            Self::AlsoFixed(Inside::Tools(listed)) | Self::FixedOnly(listed) => listed,
            Self::AdapterOnly | Self::AlsoFixed(Inside::Scenario(_)) => &[],
        }
    }

    /// Which script a fixed client has to have.
    pub fn scenario(&self) -> Option<&str> {
        match self {
            Self::AlsoFixed(Inside::Scenario(name)) => Some(name),
            Self::AdapterOnly | Self::AlsoFixed(Inside::Tools(_)) | Self::FixedOnly(_) => None,
        }
    }
}

/// What a fixed target has inside that is as good as the fixture.
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
    /// Any.
    Any,
    /// The one of this name.
    Named(String),
}

impl Listed {
    /// Whether it is among these names.
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
