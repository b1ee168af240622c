//! The server that a case describes: its tools, and what casebook does as the server.
//!
//! Takes templates, gives the form that an adapter receives. Must not know tests or expectations.

use serde::Serialize;

use super::deviation::Deviation;
use super::spec::{Revision, words};
use super::template::Template;

/// The server that a case describes.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Fixture {
    /// The tools, in order.
    pub tools: Vec<Tool>,
    /// The capabilities that the server declares beside those of its tools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<(String, Template)>,
    /// The methods beside those of tools, which a proposal adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<Method>,
    /// The deliberate errors that casebook makes when it acts as the server.
    pub deviations: Vec<Deviation>,
    /// The division of the tool list into pages when casebook acts as the server, or in a pair by a server that can divide
    /// its list; `None` lists all tools at once.
    pub pages: Option<Pages>,
    /// The revision that casebook speaks as the server, for a client that negotiates the revision by itself; `None`
    /// speaks the revision of the test, which the client then knows.
    pub revision: Option<Revision>,
}

/// The division of a tool list into pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pages {
    /// The number of tools on a page.
    pub size: usize,
    /// The cursors of the second and later pages. casebook generates those that are missing.
    pub cursors: Vec<String>,
}

impl Pages {
    /// Returns the division in the form that an adapter receives.
    fn template(&self) -> Template {
        let cursors = self.cursors.iter().cloned().map(Template::String).collect();
        Template::Object(vec![
            ("size".to_owned(), Template::Number(self.size.into())),
            ("cursors".to_owned(), Template::Array(cursors)),
        ])
    }
}

impl Fixture {
    /// Returns the first tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns whether the target writes a tool as code of its language, so that only its list shows the schemas.
    pub fn is_typed(&self) -> bool {
        self.tools.iter().any(Tool::is_typed)
    }

    /// Returns the method with this name.
    pub fn method(&self, name: &str) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == name)
    }

    /// Returns the fixture in the form that an adapter receives: `{"server": …, "tools": […], "pages"?: …,
    /// "capabilities"?: …, "methods"?: …}`.
    pub fn template(&self) -> Template {
        let server = [("name", "casebook"), ("version", "1")]
            .map(|(key, value)| (key.to_owned(), Template::String(value.to_owned())));
        let mut members = vec![
            ("server".to_owned(), Template::Object(server.into())),
            ("tools".to_owned(), Template::Array(self.tools.iter().map(|tool| tool.definition.clone()).collect())),
        ];
        members.extend(self.pages.as_ref().map(|pages| ("pages".to_owned(), pages.template())));
        let has_some = |members: &Vec<(String, Template)>| !members.is_empty();
        let capabilities = Some(self.capabilities.clone()).filter(has_some);
        members.extend(capabilities.map(|declared| ("capabilities".to_owned(), Template::Object(declared))));
        let methods: Vec<_> = self.methods.iter().map(Method::member).collect();
        members.extend(Some(methods).filter(has_some).map(|methods| ("methods".to_owned(), Template::Object(methods))));
        Template::Object(members)
    }
}

/// A method that no released revision knows, with the replies of the server.
#[derive(Debug, PartialEq, Serialize)]
pub struct Method {
    /// The name of the method.
    pub name: String,
    /// The replies in the form that an adapter receives, in the order of the requests; the last one is repeated.
    pub replies: Vec<Template>,
}

impl Method {
    /// Returns the method in the form that an adapter receives, under its name.
    fn member(&self) -> (String, Template) {
        (self.name.clone(), Template::Array(self.replies.clone()))
    }

    /// Returns the reply to the request with this number, counted from 1.
    pub fn reply(&self, number: u64) -> Option<&Template> {
        let place = usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
        self.replies.get(place).or(self.replies.last())
    }
}

/// One tool of a fixture.
#[derive(Debug, PartialEq, Serialize)]
pub struct Tool {
    /// The name of the tool.
    pub name: String,
    /// The whole definition in the form that an adapter receives, with `name` first and `does` last.
    pub definition: Template,
    /// The behaviour of the tool's code.
    pub does: Does,
}

impl Tool {
    /// Returns whether the target writes the tool as code.
    pub fn is_typed(&self) -> bool {
        self.definition.get("typed").is_some()
    }
}

words! {
    /// The behaviour of a tool's code when the tool is called.
    Does {
        /// Returns the arguments that the code received.
        Echo = "echo",
        /// Returns the result that the case specifies.
        Return = "return",
        /// Asks the user for input, and returns the answer.
        Elicit = "elicit",
        /// Raises an error.
        Raise = "raise",
        /// Waits until its call is cancelled.
        Wait = "wait",
        /// Sends a log message, and returns the arguments that the code received.
        Log = "log",
        /// Reports progress, and returns the arguments that the code received.
        Progress = "progress",
    }
}
