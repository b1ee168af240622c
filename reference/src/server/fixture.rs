//! The server that a case describes, with tools that are ready to be listed and called.
//!
//! The module takes the text of a fixture, and returns a [`Fixture`] or the reason why it is refused. Schemas stay text
//! until their depth was measured. It must not know transports or the adapter protocol.

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::message::{Members, object, one_line, present};
use crate::parameters::{self, Parameter};
use crate::policy::{OlderValues, Policy};
use crate::revision::Revision;
use crate::schema::Schema;
use crate::server::effects::{Notice, Wait};
use crate::server::elicitation::{Form, FormError};
use crate::server::method::{Method, ProposedReply};
use crate::server::state::State;

/// The fixture of a server.
#[derive(Debug)]
pub(crate) struct Fixture {
    pub(crate) server: Value,
    pub(crate) tools: Vec<Tool>,
    pub(crate) pages: Pages,
    /// The capabilities beside those of tools.
    pub(crate) capabilities: Map<String, Value>,
    /// The methods beside those of tools.
    pub(crate) methods: HashMap<String, Method>,
    pub(crate) revision: Revision,
    pub(crate) policy: &'static Policy,
    /// `true` if an invalid tool is missing. Only a mutant continues without it.
    pub(crate) is_broken: bool,
}

/// The division of the list of tools into pages. By default, there is only one page.
#[derive(Debug, Deserialize)]
pub(crate) struct Pages {
    /// The largest number of tools on a page.
    size: usize,
    /// The cursors of the second and later pages. Missing ones are made up.
    cursors: Vec<String>,
}

impl Default for Pages {
    fn default() -> Self {
        Self { size: usize::MAX, cursors: vec![] }
    }
}

impl Pages {
    /// Returns the items on the page of a cursor, and the cursor of the next page; `None` if the server never issued the
    /// cursor. Every second page has one item less than the others, because no client may assume a fixed size.
    pub(crate) fn page<'a, T>(&self, items: &'a [T], cursor: Option<&str>) -> Option<(&'a [T], Option<String>)> {
        let (mut rest, mut own) = (items, None);
        for number in 0.. {
            let size = if number % 2 == 0 { self.size } else { self.size.saturating_sub(1) };
            let (page, further) = rest.split_at(size.max(1).min(rest.len()));
            let made_up = || format!("page-{}", number + 2);
            let next = (!further.is_empty()).then(|| self.cursors.get(number).cloned().unwrap_or_else(made_up));
            if own.as_deref() == cursor {
                return Some((page, next));
            }
            (rest, own) = (further, Some(next?));
        }
        None
    }
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// The tool as `tools/list` returns it.
    pub(crate) listed: Box<RawValue>,
    pub(crate) input: Schema,
    pub(crate) output: Option<Schema>,
    pub(crate) does: Does,
    /// The arguments that HTTP headers repeat.
    pub(crate) parameters: Vec<Parameter>,
    /// `true` for code with types, which have defaults.
    pub(crate) is_typed: bool,
}

/// The behaviour of a tool's code.
#[derive(Debug)]
pub(crate) enum Does {
    Echo,
    Return(Returned),
    Elicit(Box<Form>, Option<State>),
    Raise(String),
    Wait(Wait),
    /// Sends a notification, and returns the arguments.
    Notify(Notice),
}

/// The value that a tool's code returns.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Returned {
    /// The structured content; `null` counts as present.
    #[serde(default, deserialize_with = "present")]
    pub(crate) structured_content: Option<Value>,
    pub(crate) content: Option<Vec<Value>>,
    #[serde(default)]
    pub(crate) is_error: bool,
}

/// The reason why a server is not built.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) tool: Option<String>,
}

#[derive(Deserialize)]
struct Source {
    server: Value,
    tools: Vec<Members>,
    #[serde(default)]
    pages: Pages,
    #[serde(default)]
    capabilities: Map<String, Value>,
    #[serde(default)]
    methods: HashMap<String, Vec<ProposedReply>>,
}

impl Fixture {
    /// Builds the server.
    ///
    /// # Errors
    /// The reason why the server is not built.
    pub(crate) fn build(text: &str, revision: Revision, policy: &'static Policy) -> Result<Self, Refused> {
        if !policy.tools.are_served {
            return Err(Refused {
                kind: "Refusal",
                message: "this mutant refuses every fixture".to_owned(),
                tool: None,
            });
        }
        let source: Source = serde_json::from_str(&one_line(text)).map_err(|error| Refused {
            kind: "FixtureError",
            message: error.to_string(),
            tool: None,
        })?;
        let methods = source.methods.into_iter().map(|(name, replies)| (name, Method::new(replies))).collect();
        let mut fixture = Self {
            server: source.server,
            tools: vec![],
            pages: source.pages,
            capabilities: source.capabilities,
            methods,
            revision,
            policy,
            is_broken: false,
        };
        for members in source.tools {
            let named = |(kind, message)| Refused { kind, message, tool: members.string("name").ok().flatten() };
            match fixture.tool(&members).map_err(named) {
                Ok(tool) => fixture.tools.push(tool),
                Err(_) if policy.tools.bad_tool_breaks_list => fixture.is_broken = true,
                Err(refused) => return Err(refused),
            }
        }
        Ok(fixture)
    }

    fn tool(&self, members: &Members) -> Result<Tool, (&'static str, String)> {
        let wrong = |message: String| ("ToolError", message);
        let schema_error = |of: &'static str| move |error| ("SchemaError", format!("{of}: {error}"));
        let name = members.string("name").map_err(wrong)?.ok_or_else(|| wrong("a tool must have a name".to_owned()))?;
        self.check_name(&name).map_err(wrong)?;
        for text in ["title", "description"] {
            members.string(text).map_err(wrong)?;
        }
        let input = members.get("inputSchema").ok_or_else(|| wrong("`inputSchema` is missing".to_owned()))?;
        let is_listed_unchecked = !self.policy.tools.schemas_are_objects && !input.starts_with('{');
        let input = if is_listed_unchecked { r#"{"type":"object"}"# } else { input };
        let input = self.schema(input).map_err(schema_error("inputSchema"))?;
        if input.value().get("type").and_then(Value::as_str) != Some("object") && self.policy.tools.input_root_is_object
        {
            return Err(("SchemaError", "inputSchema: `type` must be \"object\"".to_owned()));
        }
        let parameters = if self.revision.is_stateless() {
            match parameters::of(input.value()) {
                Ok(parameters) => parameters,
                Err(_) if !self.policy.tools.marks_are_checked => vec![],
                Err(message) => return Err(("SchemaError", format!("inputSchema: {message}"))),
            }
        } else {
            vec![]
        };
        let output = members.get("outputSchema");
        if output.is_some_and(|text| !text.starts_with('{')) && self.policy.tools.schemas_are_objects {
            return Err(("SchemaError", "outputSchema: it must be an object".to_owned()));
        }
        let output = output.map(|text| self.schema(text)).transpose().map_err(schema_error("outputSchema"))?;
        let has_other_root = |output: &Schema| output.value().get("type").and_then(Value::as_str) != Some("object");
        let is_older = output.as_ref().is_some_and(has_other_root) && !self.has_any_output();
        if is_older && self.policy.output.older_values == OlderValues::Refused {
            let message = format!("outputSchema: `type` must be \"object\" in {}", self.revision.name());
            return Err(("SchemaError", message));
        }
        let does = self.does(members.get("does"))?;
        let is_typed = members.get("typed").is_some();
        // The behaviour of the code is not part of the list.
        let mut listed: Vec<_> = members.0.iter().filter(|(key, _)| key != "does" && key != "typed").cloned().collect();
        if is_older {
            listed.retain(|(key, _)| key != "outputSchema");
        }
        Ok(Tool { listed: object(&listed), name, input, output, does, parameters, is_typed })
    }

    /// Returns whether structured content and its schema may be something other than an object.
    pub(crate) fn has_any_output(&self) -> bool {
        self.revision >= self.policy.output.any_root_since
    }

    fn check_name(&self, name: &str) -> Result<(), String> {
        let policy = &self.policy.tools;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || policy.name_marks.contains(c);
        if name.is_empty() || name.len() > policy.name_length || !name.chars().all(is_plain) {
            return Err("a tool's name is 1 to 128 letters, digits, `_`, `-` or `.`".to_owned());
        }
        if policy.names_are_unique && self.tools.iter().any(|tool| tool.name == name) {
            return Err(format!("two tools are named `{name}`"));
        }
        Ok(())
    }

    fn schema(&self, text: &str) -> Result<Schema, crate::schema::SchemaError> {
        let schema = Schema::read(text, self.policy)?;
        let mut earlier = self.tools.iter().flat_map(|tool| std::iter::once(&tool.input).chain(&tool.output));
        let id = schema.value().get("$id").filter(|_| self.policy.schemas.are_shared_by_id);
        let shared = id.and_then(|id| earlier.find(|other| other.value().get("$id") == Some(id)).cloned());
        Ok(shared.unwrap_or(schema))
    }

    fn does(&self, text: Option<&str>) -> Result<Does, (&'static str, String)> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Source {
            Echo(IgnoredAny),
            Return(Returned),
            Elicit(Question),
            Raise(String),
            Wait(Wait),
            Log(Value),
            Progress(Value),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Question {
            message: String,
            requested_schema: Option<Box<RawValue>>,
            url: Option<String>,
            elicitation_id: Option<String>,
            state: Option<State>,
        }
        let wrong = |error: serde_json::Error| ("ToolError", format!("does: {error}"));
        Ok(match serde_json::from_str(text.unwrap_or("null")).map_err(wrong)? {
            Source::Echo(_) => Does::Echo,
            Source::Return(returned) => Does::Return(check_content(returned)?),
            Source::Raise(message) => Does::Raise(message),
            Source::Wait(wait) => Does::Wait(wait),
            Source::Log(message) => Does::Notify(Notice::Log(message)),
            Source::Progress(progress) => Does::Notify(Notice::Progress(progress)),
            Source::Elicit(Question { message, requested_schema, url, elicitation_id, state }) => {
                let form = match (url, requested_schema) {
                    (Some(url), _) => Form::of_url(&message, &url, elicitation_id, self.revision, self.policy),
                    (None, Some(schema)) => Form::read(&message, schema.get(), self.revision, self.policy),
                    (None, None) => Err(FormError::Root("the schema is missing".to_owned())),
                };
                Does::Elicit(Box::new(form.map_err(|error| ("FormError", error.to_string()))?), state)
            }
        })
    }
}

fn check_content(returned: Returned) -> Result<Returned, (&'static str, String)> {
    let is_block = |block: &Value| {
        let string = |key: &str| block.get(key).is_some_and(Value::is_string);
        match block.get("type").and_then(Value::as_str) {
            Some("text") => string("text"),
            Some("image" | "audio") => string("data") && string("mimeType"),
            Some("resource_link") => string("uri") && string("name"),
            Some("resource") => block.get("resource").is_some_and(Value::is_object),
            _ => false,
        }
    };
    match &returned.content {
        Some(blocks) if !blocks.iter().all(is_block) => {
            Err(("ToolError", "does: `content` contains an item that is not a content block".to_owned()))
        }
        _ => Ok(returned),
    }
}
