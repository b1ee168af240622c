//! Changes to messages as data: the place in a message, and the change.
//!
//! A strict policy has none. A mutant's changes are applied where messages are received and sent, so that the code that
//! builds or reads a message does not know them. This module must not know methods.

use serde_json::{Value, json};

use crate::message::{Message, Request};
use crate::nesting;
use crate::policy::Policy;

/// A change to the messages at one hook.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    hook: Hook,
    /// Places in the message, each with the JSON text that must be there. Without any, every message is changed.
    when: Vec<(&'static str, &'static str)>,
    /// The place to change: a JSON pointer in which `*` matches every member.
    at: &'static str,
    change: Change,
}

/// The points at which messages enter or leave the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A request that the server receives.
    Received,
    /// A reply of the server, with the HTTP status and the request as additional members.
    Reply,
    /// The parameters of an `elicitation/create` that the server sends.
    Question,
    /// A request that the client sends.
    Request,
    /// A response that the client sends.
    Response,
    /// A notification of a method that a proposal adds.
    Notice,
}

/// The change of one place.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// Sets this value (a JSON text), whether there is a value or not.
    Set(&'static str),
    /// Replaces an existing value with this one.
    Replace(&'static str),
    /// Sets this value if there is none.
    Default(&'static str),
    Remove,
    Apply(fn(&mut Value)),
}

impl Policy {
    /// Adds a change to every message at a hook.
    pub(crate) fn edit(&mut self, hook: Hook, at: &'static str, change: Change) {
        self.edits.push(Edit { hook, when: Vec::new(), at, change });
    }

    /// Adds a change to the messages at a hook that have this JSON text at this place.
    pub(crate) fn edit_if(&mut self, hook: Hook, when: (&'static str, &'static str), at: &'static str, change: Change) {
        self.edit_where(hook, vec![when], at, change);
    }

    /// Adds a change to the messages at a hook that have each JSON text at its place.
    pub(crate) fn edit_where(
        &mut self,
        hook: Hook,
        when: Vec<(&'static str, &'static str)>,
        at: &'static str,
        change: Change,
    ) {
        self.edits.push(Edit { hook, when, at, change });
    }

    /// Applies the changes of a hook to a message.
    pub(crate) fn pass(&self, hook: Hook, message: &mut Value) {
        for edit in self.edits.iter().filter(|edit| edit.hook == hook) {
            if edit.when.iter().all(|(place, text)| message.pointer(place) == Some(&value(text))) {
                let path: Vec<_> =
                    edit.at.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~")).collect();
                change(message, &path, edit.change);
            }
        }
    }

    /// Applies the changes of a hook to the text of a message.
    pub(crate) fn pass_text(&self, hook: Hook, text: String) -> String {
        self.changed(hook, &text, |message| message).map_or(text, |message| message.to_string())
    }

    /// Applies the changes to a reply. `request` is `None` if the request could not be read.
    pub(crate) fn pass_reply(&self, request: Option<&Request>, status: u16, reply: String) -> (u16, String) {
        let with_request = |mut reply: Value| {
            reply["status"] = status.into();
            reply["request"] = request.map(as_value).into();
            reply
        };
        let Some(mut changed) = self.changed(Hook::Reply, &reply, with_request) else { return (status, reply) };
        let changed_to = changed.get("status").and_then(Value::as_u64).and_then(|status| status.try_into().ok());
        let status = changed_to.filter(|status| (200..600).contains(status)).unwrap_or(status);
        if let Some(members) = changed.as_object_mut() {
            members.retain(|key, _| key != "status" && key != "request");
        }
        (status, changed.to_string())
    }

    /// Applies the changes to a received message.
    pub(crate) fn pass_received(&self, message: Message) -> Message {
        match message {
            Message::Request(request) if self.edits.iter().any(|edit| edit.hook == Hook::Received) => {
                let mut value = as_value(&request);
                self.pass(Hook::Received, &mut value);
                let params = request.params.is_some().then(|| value["params"].take());
                Message::Request(Request { params, ..request })
            }
            message => message,
        }
    }

    /// Returns the changed message, or `None` if nothing changes, so that the text keeps its white space and numbers.
    fn changed(&self, hook: Hook, text: &str, wrap: impl Fn(Value) -> Value) -> Option<Value> {
        if !self.edits.iter().any(|edit| edit.hook == hook) {
            return None;
        }
        let message = wrap(nesting::read(text.as_bytes()).ok()?);
        let mut changed = message.clone();
        self.pass(hook, &mut changed);
        (changed != message).then_some(changed)
    }
}

/// Turns a reply into an error.
pub(crate) fn fail(reply: &mut Value, status: u16, code: i32) {
    reply["status"] = json!(status);
    if let Some(members) = reply.as_object_mut() {
        members.shift_remove("result");
        members.insert("error".to_owned(), json!({ "code": code, "message": "refused by a mutant" }));
    }
}

fn as_value(request: &Request) -> Value {
    json!({ "method": request.method, "params": request.params })
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("a JSON text of the table")
}

fn change(place: &mut Value, path: &[String], what: Change) {
    let Some((key, rest)) = path.split_first() else {
        match what {
            Change::Set(text) | Change::Replace(text) => *place = value(text),
            Change::Apply(apply) => apply(place),
            Change::Default(_) | Change::Remove => {}
        }
        return;
    };
    match (place, what) {
        (Value::Array(items), _) if key == "*" => items.iter_mut().for_each(|item| change(item, rest, what)),
        (Value::Array(items), Change::Remove) if rest.is_empty() => {
            let place = key.parse().ok().filter(|place| *place < items.len());
            place.map(|place| items.remove(place));
        }
        (Value::Array(items), _) => {
            if let Some(item) = key.parse::<usize>().ok().and_then(|place| items.get_mut(place)) {
                change(item, rest, what);
            }
        }
        (Value::Object(members), _) if key == "*" => {
            members.values_mut().for_each(|member| change(member, rest, what));
        }
        (Value::Object(members), Change::Remove) if rest.is_empty() => drop(members.shift_remove(key)),
        (Value::Object(members), Change::Set(text)) if rest.is_empty() => {
            members.insert(key.clone(), value(text));
        }
        (Value::Object(members), Change::Default(text)) if rest.is_empty() => {
            members.entry(key).or_insert_with(|| value(text));
        }
        (Value::Object(members), _) => {
            if let Some(member) = members.get_mut(key) {
                change(member, rest, what);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_changes_each_place_that_its_pointer_names() {
        for (at, what, after) in [
            ("/~0~1", Change::Set("1"), json!({ "a": [{ "b": 0 }, {}], "c/d": {}, "~/": 1 })),
            ("/a/*/b", Change::Set("1"), json!({ "a": [{ "b": 1 }, { "b": 1 }], "c/d": {} })),
            ("/a/*/b", Change::Replace("1"), json!({ "a": [{ "b": 1 }, {}], "c/d": {} })),
            ("/a/*/b", Change::Default("1"), json!({ "a": [{ "b": 0 }, { "b": 1 }], "c/d": {} })),
            ("/c~1d", Change::Remove, json!({ "a": [{ "b": 0 }, {}] })),
            ("/x/y", Change::Set("1"), json!({ "a": [{ "b": 0 }, {}], "c/d": {} })),
            ("/a/1/b", Change::Set("1"), json!({ "a": [{ "b": 0 }, { "b": 1 }], "c/d": {} })),
            ("/a/0", Change::Remove, json!({ "a": [{}], "c/d": {} })),
            ("/a/2", Change::Remove, json!({ "a": [{ "b": 0 }, {}], "c/d": {} })),
            ("/a", Change::Apply(|a| *a = json!([])), json!({ "a": [], "c/d": {} })),
        ] {
            let mut policy = Policy::STRICT;
            policy.edit(Hook::Request, at, what);
            policy.edit_if(Hook::Request, ("/a/0/b", "2"), "/a", Change::Remove);
            policy.edit(Hook::Response, "/a", Change::Remove);
            let mut message = json!({ "a": [{ "b": 0 }, {}], "c/d": {} });
            policy.pass(Hook::Request, &mut message);
            assert_eq!(message, after, "{at} {what:?}");
        }
    }

    #[test]
    fn reply_that_becomes_no_object_or_gets_no_status_is_sent_with_its_own() {
        for (at, set, expected) in [
            ("", "5", (200, "5")),
            ("", "[0]", (200, "[0]")),
            ("/status", "0", (200, "{\"id\":1}")),
            ("/status", "99999999", (200, "{\"id\":1}")),
            ("/status", "\"x\"", (200, "{\"id\":1}")),
            ("/status", "404", (404, "{\"id\":1}")),
        ] {
            let mut policy = Policy::STRICT;
            policy.edit(Hook::Reply, at, Change::Set(set));
            let (status, text) = policy.pass_reply(None, 200, "{\"id\":1}".to_owned());
            assert_eq!((status, &*text), expected, "{at} {set}");
        }
    }

    #[test]
    fn message_without_a_change_keeps_its_text() {
        let text = r#"{ "a" : 1.0e0 }"#.to_owned();
        let mut policy = Policy::STRICT;
        policy.edit(Hook::Request, "/b", Change::Remove);
        assert_eq!(policy.pass_text(Hook::Request, text.clone()), text);
    }
}
