//! The methods and capabilities of a proposal, with the replies of the case in their order.
//!
//! Takes requests, gives results and notifications as JSON. Must not know what the proposal says of them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::server::{Call, Fault, METHOD_NOT_FOUND, Server, Turn};
use crate::jsonrpc::text::{Members, edit, object, quoted};

/// A reply as the case writes it.
#[derive(Deserialize)]
struct Reply<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<Refusal<'a>>,
    #[serde(borrow, default)]
    notify: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Refusal<'a> {
    code: i64,
    message: String,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

impl Server {
    /// Returns the capabilities that the server declares.
    pub(super) fn declared(&self) -> String {
        let own = [("tools", "{}".to_owned())];
        let added = self.given().capabilities.iter();
        object(own.into_iter().chain(added.map(|(name, value)| (name.as_str(), value.render(self.bindings())))))
    }

    /// Returns the result of a request for a method that no released revision knows.
    pub(super) fn proposed(&self, call: &Call<'_>) -> Result<String, Fault> {
        let unknown = || {
            let status = if self.is_stateless() { 404 } else { 200 };
            Fault::new(status, METHOD_NOT_FOUND, format!("Method not found: {}", call.method))
        };
        let written = self.written(&call.method, call.number).ok_or_else(unknown)?;
        let reply: Reply<'_> = serde_json::from_str(&written).map_err(|_| unknown())?;
        if let Some(Refusal { code, message, data }) = reply.error {
            let data = data.map(|data| data.get().to_owned());
            return Err(Fault { data, ..Fault::new(200, code, message) });
        }
        // Without a result, the reply is the echo of the parameters.
        let result =
            reply.result.map_or_else(|| object([("params", echoed(&call.params))]), |result| result.get().to_owned());
        Ok(self.completed(&result))
    }

    /// Returns the notifications that precede the reply to a request.
    pub(super) fn notices(&self, turn: &Turn) -> Vec<String> {
        let Some(written) = self.written(&turn.method, turn.number) else { return Vec::new() };
        let reply: Option<Reply<'_>> = serde_json::from_str(&written).ok();
        let notices = reply.map(|reply| reply.notify).unwrap_or_default();
        let named = |notice: &&RawValue| edit(notice.get(), "/jsonrpc", Some(&quoted("2.0")));
        notices.iter().filter_map(named).collect()
    }

    /// The reply of the case to the request with this number, as JSON.
    fn written(&self, method: &str, number: u64) -> Option<String> {
        Some(self.given().method(method)?.reply(number)?.render(self.bindings()))
    }

    /// Adds the members that every result has, unless the case gives them.
    fn completed(&self, result: &str) -> String {
        let own = self.result("complete", Vec::new());
        let (own, given) = (Members::of(&own).unwrap_or_default(), Members::of(result).unwrap_or_default());
        let missing = ["resultType", "_meta"].into_iter().filter(|key| given.get(key).is_none());
        let missing: Vec<_> = missing.filter_map(|key| Some((key, own.get(key)?))).collect();
        missing.into_iter().fold(result.to_owned(), |result, (key, value)| {
            edit(&result, &format!("/{key}"), Some(value)).unwrap_or(result)
        })
    }
}

/// The parameters of a request without `_meta`, which a client completes.
fn echoed(params: &Members<'_>) -> String {
    let text = object(params.0.iter().map(|(key, value)| (key.as_str(), value.get().to_owned())));
    edit(&text, "/_meta", None).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::drive::client::mock::server::{Incoming, ReplyContent, Server};
    use crate::model::CaseId;
    use crate::model::case::{Fixture, Method, Test};
    use crate::model::spec::{Revision, Role};
    use crate::model::template::{Bindings, Template};

    fn server(replies: &[Value], revision: Revision) -> Arc<Server> {
        let replies = replies.iter().map(Template::from).collect();
        let methods = vec![Method { name: "a/b".to_owned(), replies }];
        let capabilities = vec![("a".to_owned(), Template::from(&json!({ "b": 1 })))];
        let given = Fixture { capabilities, methods, ..Fixture::default() };
        let test = Arc::new(Test::new(CaseId::new("f", "c"), "t", Role::Client, given, Vec::new()));
        Arc::new(Server::new(test, Bindings::default(), revision))
    }

    /// Sends a request, and returns the notifications and the reply.
    fn reply(server: &Arc<Server>, method: &str, params: &Value) -> (Vec<Value>, Value) {
        let mut params = params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": server.revision.name(),
            "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let text = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let reply = server.answer(Incoming { text: &text, session: None, headers: None });
        let ReplyContent::Message(message) = reply.content else { panic!("no message") };
        let read = |text: &String| serde_json::from_str(text).expect("JSON");
        (reply.wrong.preface.messages.iter().map(read).collect(), read(&message))
    }

    #[test]
    fn method_has_the_replies_of_the_case_in_their_order() {
        let newest = Revision::all().last().expect("a revision");
        let replies = [
            json!({ "echo": true, "notify": [{ "method": "notifications/a" }] }),
            json!({ "error": { "code": -1, "message": "no", "data": [1] } }),
            json!({ "result": { "resultType": "own", "x": 1 } }),
        ];
        let server = server(&replies, newest);
        let (notices, first) = reply(&server, "a/b", &json!({ "p": 1 }));
        assert_eq!(notices, [json!({ "method": "notifications/a", "jsonrpc": "2.0" })]);
        assert_eq!(
            (&first["result"]["params"], &first["result"]["resultType"]),
            (&json!({ "p": 1 }), &json!("complete"))
        );
        let (_, second) = reply(&server, "a/b", &json!({}));
        assert_eq!(second["error"], json!({ "code": -1, "message": "no", "data": [1] }));
        for _ in 0..2 {
            let (notices, last) = reply(&server, "a/b", &json!({}));
            assert_eq!(
                (notices.len(), &last["result"]["resultType"], &last["result"]["x"]),
                (0, &json!("own"), &json!(1))
            );
        }
        assert_eq!(reply(&server, "a/c", &json!({})).1["error"]["code"], -32601);
        let discovered = reply(&server, "server/discover", &json!({})).1;
        assert_eq!(discovered["result"]["capabilities"], json!({ "tools": {}, "a": { "b": 1 } }));
    }
}
