//! The server that a user named on the command line, as far as a `target.toml` can repeat it.
//!
//! Part of the header of a run log. Has the names of headers and variables, and never their values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::callable::Callable;
use super::case::Need;
use super::endpoint::HeaderValue;
use super::spec::Revision;
use super::survey::Declared;
use super::target::{Fixed, Target, TargetKind};

/// A server that was tested without a `target.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tried {
    /// The command of a server over stdio.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The folder in which the command was run.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The names of the variables that were set for the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The address of a running server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of headers, with the variables of their values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub header_env: BTreeMap<String, String>,
    /// The names of headers whose values were on the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
    /// The file with further roots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cacert: Option<String>,
    /// The words of the command, or the URL, that have the name of a secret in place of its value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The name and the version that the server gives itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The revisions that the server declares.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revisions: Vec<Revision>,
    /// The features that the server does not declare on any revision, of those that a `target.toml` can name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Need>,
    /// `true` if every tool could be called.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls_all: bool,
    /// The tools that could be called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

impl Tried {
    /// Describes a target that the user named by its command or URL; `None` for any other.
    pub fn of(target: &Target) -> Option<Self> {
        let survey = target.survey.as_ref()?;
        let mut tried = Self {
            env: target.env.keys().cloned().collect(),
            server: survey.server.as_ref().map(|(name, version)| format!("{name} {version}").trim().to_owned()),
            revisions: survey.revisions.keys().copied().collect(),
            lacks: if survey.revisions.values().any(Declared::has_tools) { Vec::new() } else { vec![Need::Tools] },
            ..Self::default()
        };
        match &target.callable {
            Callable::None => {}
            Callable::All => tried.calls_all = true,
            Callable::Named(names) => tried.calls.clone_from(names),
        }
        match &target.drives {
            TargetKind::Fixed(Fixed::Server(command)) => {
                tried.command.clone_from(command);
                tried.folder = target.folder.to_string();
            }
            TargetKind::Fixed(Fixed::Running(endpoint)) => {
                tried.url = Some(endpoint.url.clone());
                tried.cacert = endpoint.roots.as_ref().map(ToString::to_string);
                for header in &endpoint.headers {
                    match &header.value {
                        HeaderValue::Given(_) => tried.headers.push(header.name.clone()),
                        HeaderValue::Variable(name) => _ = tried.header_env.insert(header.name.clone(), name.clone()),
                    }
                }
            }
            TargetKind::Fixed(Fixed::Client(_)) | TargetKind::Adapter(_) | TargetKind::Pair(_) => return None,
        }
        Some(tried)
    }
}
