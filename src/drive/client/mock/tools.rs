//! The tools of a fixture: listing and calling.
//!
//! Takes a fixture, gives results as text, exactly as the case gives them, however deeply nested. Must not know
//! transports or the answers of a client.

use super::elicit::Elicits;
use super::server::{Call, Fault, Outcome, Server};
use crate::drive::token::token;
use crate::jsonrpc::text::{is_object, string};
use crate::jsonrpc::text::{object, quoted};
use crate::model::case::{Does, Fixture, Pages, Tool};
use crate::model::template::{Bindings, Template};

/// The members of a result, as JSON.
pub(super) type Parts = Vec<(&'static str, String)>;

/// The tools of a server.
#[derive(Debug)]
pub(super) struct Tools {
    offers: Vec<Offer>,
    page_size: usize,
    /// The cursor of each page except the first.
    cursors: Vec<String>,
}

#[derive(Debug)]
struct Offer {
    name: String,
    /// The tool as it is listed, as JSON.
    listed: String,
    code: Code,
}

/// The behaviour of a tool, with its placeholders filled.
#[derive(Debug)]
enum Code {
    Echo,
    Return(Parts),
    Raise(String),
    Elicit(Elicits),
}

impl Tools {
    pub(super) fn of(fixture: &Fixture, bindings: &Bindings) -> Self {
        let offers: Vec<_> = fixture.tools.iter().map(|tool| Offer::of(tool, bindings)).collect();
        let all = Pages { size: offers.len(), cursors: Vec::new() };
        let Pages { size, cursors } = fixture.pages.clone().unwrap_or(all);
        let page_size = size.max(1);
        let further = offers.len().div_ceil(page_size).saturating_sub(1);
        let made_up = std::iter::repeat_with(token);
        Self { offers, page_size, cursors: cursors.into_iter().chain(made_up).take(further).collect() }
    }

    /// Returns one page of the list.
    pub(super) fn list(&self, call: &Call<'_>, server: &Server) -> Result<String, Fault> {
        let page = match call.params.get("cursor").map(string) {
            None => Some(0),
            Some(None) => None,
            Some(Some(cursor)) => self.cursors.iter().position(|known| *known == cursor).map(|place| place + 1),
        };
        let page = page.ok_or_else(|| Fault::params("Invalid cursor"))?;
        let shown = self.offers.iter().skip(page * self.page_size).take(self.page_size);
        let shown: Vec<_> = shown.map(|offer| offer.listed.as_str()).collect();
        let mut parts = vec![("tools", format!("[{}]", shown.join(",")))];
        parts.extend(self.cursors.get(page).map(|cursor| ("nextCursor", quoted(cursor))));
        if server.is_stateless() {
            parts.extend([("ttlMs", "0".to_owned()), ("cacheScope", quoted("private"))]);
        }
        Ok(server.complete(parts))
    }

    /// Handles a call of a tool.
    pub(super) fn call(&self, call: &Call<'_>, server: &Server) -> Result<Outcome, Fault> {
        let name = call.params.get("name").and_then(string);
        let name = name.ok_or_else(|| Fault::params("`tools/call` needs a `name`"))?;
        let arguments = call.params.get("arguments").unwrap_or("{}");
        if !is_object(arguments) {
            return Err(Fault::params("`arguments` is no object"));
        }
        let offer = self.offers.iter().find(|offer| offer.name == name);
        let offer = offer.ok_or_else(|| Fault::params(format!("Unknown tool: {name}")))?;
        let parts = match &offer.code {
            Code::Echo => structured(arguments),
            Code::Return(parts) => parts.clone(),
            Code::Raise(message) => failure(message),
            Code::Elicit(elicits) => return Ok(Outcome::Asks(elicits.clone())),
        };
        Ok(Outcome::Result(server.complete(parts)))
    }
}

impl Offer {
    fn of(tool: &Tool, bindings: &Bindings) -> Self {
        let code = tool.definition.get("does").and_then(|does| does.get(tool.does.word()));
        let code = code.unwrap_or(&Template::Null);
        Self {
            name: tool.name.clone(),
            listed: tool.definition.render_without("does", bindings),
            code: match tool.does {
                Does::Echo | Does::Wait | Does::Log | Does::Progress => Code::Echo,
                Does::Return => Code::Return(returned(code, bindings)),
                Does::Raise => Code::Raise(string(&code.render(bindings)).unwrap_or_default()),
                Does::Elicit => Code::Elicit(Elicits::of(code, bindings)),
            },
        }
    }
}

/// Returns the result that a case gives to a tool, completed with the required member.
fn returned(parts: &Template, bindings: &Bindings) -> Parts {
    let known = ["content", "structuredContent", "isError", "_meta"];
    let part =
        |name| parts.get(name).filter(|part| **part != Template::Absent).map(|part| (name, part.render(bindings)));
    let mut parts: Parts = known.into_iter().filter_map(part).collect();
    if !parts.iter().any(|(name, _)| *name == "content") {
        parts.push(("content", "[]".to_owned()));
    }
    parts
}

/// Returns structured content with its text.
pub(super) fn structured(value: &str) -> Parts {
    vec![("content", text_block(value)), ("structuredContent", value.to_owned())]
}

/// Returns a tool execution error.
pub(super) fn failure(message: &str) -> Parts {
    vec![("content", text_block(message)), ("isError", "true".to_owned())]
}

fn text_block(text: &str) -> String {
    format!("[{}]", object([("type", quoted("text")), ("text", quoted(text))]))
}
