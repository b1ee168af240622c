//! What a proposal adds to the server of a fixture: `given.methods` and `given.capabilities`.
//!
//! Takes nodes with the values of a row filled in, gives the methods with their replies. Must not know how they are served.

use miette::SourceSpan;

use crate::load::text::diagnostic::Lint;
use crate::load::text::expand::template;
use crate::load::text::node::Node;
use crate::load::text::read::{Object, Reader};
use crate::model::case::Method;
use crate::model::template::Template;

/// The methods of released revisions that casebook answers itself.
const RELEASED: [&str; 6] = ["initialize", "ping", "server/discover", "tools/list", "tools/call", "logging/setLevel"];
/// The capabilities that a server declares because of its fixture.
const OWN: [&str; 2] = ["tools", "logging"];
/// The kinds of replies.
const KINDS: [&str; 3] = ["result", "error", "echo"];
/// The help for a reply of no kind, or of two.
const REPLIES: &str =
    "write one of `{\"result\": {…}}`, `{\"error\": {\"code\": -32000, \"message\": \"TEXT\"}}`, `{\"echo\": true}`";

/// Reads the capabilities, which the server declares beside its own.
pub(super) fn capabilities(reader: &mut Reader, node: &Node) -> Vec<(String, Template)> {
    let members = reader.members(node, "`capabilities`").unwrap_or_default();
    for member in members.iter().filter(|member| OWN.contains(&&*member.key)) {
        let own = reader.mistake(Lint::ConflictingKeys, format!("the server declares `{}` itself", member.key));
        reader
            .push(own.at(member.key_span, "no capability of a proposal").help("name a member that the proposal adds"));
    }
    members.iter().map(|member| ((*member.key).to_owned(), template(reader, &member.value))).collect()
}

/// Reads the methods.
pub(super) fn methods(reader: &mut Reader, node: &Node) -> Vec<Method> {
    let mut methods = Vec::new();
    for member in reader.members(node, "`methods`").unwrap_or_default() {
        if RELEASED.contains(&&*member.key) {
            let own =
                reader.mistake(Lint::ConflictingKeys, format!("`{}` is a method of a released revision", member.key));
            let help = "the server answers it from `tools`; a client's case can change the reply by `deviations`";
            reader.push(own.at(member.key_span, "no method of a proposal").help(help));
        }
        method_of_request(reader, &member.key, member.key_span);
        let replies = reader.one_or_more(&member.value, "the replies");
        if replies.is_empty() {
            let none = reader.mistake(Lint::WrongCount, format!("`{}` has no replies", member.key));
            reader.push(none.at(member.value.span, "an empty list").help(REPLIES));
        }
        let replies = replies.iter().filter_map(|reply| self::reply(reader, reply)).collect();
        methods.push(Method { name: (*member.key).to_owned(), replies });
    }
    methods
}

/// Refuses a name that no request can have as its method.
pub(super) fn method_of_request(reader: &mut Reader, name: &str, span: SourceSpan) {
    if name.starts_with("notifications/") || name.is_empty() || name.contains(char::is_whitespace) {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{name}` cannot be the method of a request"));
        let help = "write its name, as in `events/list`; notifications stand in `notify` of a reply";
        reader.push(wrong.at(span, "no method of a request").help(help));
    }
}

fn reply(reader: &mut Reader, node: &Node) -> Option<Template> {
    let object = reader.object(node, "the reply", &[&KINDS, ["notify"].as_slice()].concat())?;
    let mut kinds = KINDS.iter().filter_map(|kind| Some((*kind, object.get(kind)?)));
    let (Some((kind, value)), None) = (kinds.next(), kinds.next()) else {
        let unclear =
            reader.mistake(Lint::ConflictingKeys, "the reply must have exactly one of `result`, `error`, `echo`");
        reader.push(unclear.at(node.span, "none or several of them").help(REPLIES));
        return None;
    };
    match kind {
        "result" => _ = object_of(reader, value, "`result`"),
        "echo" => reader.yes(value, "`echo`")?,
        _ => {
            let error = reader.object(value, "`error`", &["code", "message", "data"])?;
            let code = reader.need(error, "`error`", "code")?;
            reader.integer(code, "`code`", i64::from(i32::MIN), i64::from(i32::MAX));
            let message = reader.need(error, "`error`", "message")?;
            reader.text(message, "`message`");
        }
    }
    let notices = object.get("notify").and_then(|notify| reader.items(notify, "`notify`")).unwrap_or_default();
    for notice in notices {
        notification(reader, notice)?;
    }
    Some(template(reader, node))
}

fn notification(reader: &mut Reader, node: &Node) -> Option<()> {
    let object: Object<'_> = reader.object(node, "the notification", &["method", "params"])?;
    object.get("params").map_or(Some(()), |params| object_of(reader, params, "`params`"))?;
    let method = reader.need(object, "the notification", "method")?;
    let name = reader.text(method, "`method`")?;
    if !name.starts_with("notifications/") {
        let wrong = reader.mistake(Lint::UnknownValue, format!("`{name}` is no method of a notification"));
        reader.push(wrong.at(method.span, "a request").help("its name begins with `notifications/`"));
    }
    Some(())
}

/// Refuses what is no object, and a placeholder in the place of one.
fn object_of(reader: &mut Reader, node: &Node, what: &str) -> Option<()> {
    let members = reader.members(node, what)?;
    if let Some(placeholder) = members.iter().find(|member| member.key.starts_with('@')) {
        let wrong = reader.mistake(Lint::UnknownValue, format!("{what} must be an object, not `{}`", placeholder.key));
        reader.push(wrong.at(placeholder.key_span, "a placeholder").help("write the object, with placeholders in it"));
        return None;
    }
    Some(())
}
