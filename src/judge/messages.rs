//! Messages of a target as envelopes, whose parts stay text and may have any depth.
//!
//! Takes the text of a message, gives its parts. Must not know tests or expectations.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::de::IgnoredAny;
use serde_json::Map;
use serde_json::value::RawValue;

use super::compare;
use crate::jsonrpc::ambiguity;
use crate::jsonrpc::envelope::{Envelope, Members, items, members, ordered, scalar};
use crate::jsonrpc::{message, nesting};
use crate::model::observation::{Observed, Parts};
use crate::model::transcript::{HEADER_BYTES, HEADERS, HTTP_ERROR, Message, Party, StepTranscript};

/// The levels of a value that an observation keeps as a tree. A record, which contains the value, has a higher limit.
const KEPT_LEVELS: usize = nesting::LIMIT - 32;
/// The bytes of a value that an observation keeps: as many as a case may generate.
const KEPT_BYTES: usize = 8 << 20;
/// The characters of a reply that is not JSON that an observation keeps.
const KEPT_TEXT: usize = 300;

/// The request for a page of tools.
pub(crate) const LIST: &str = "tools/list";
/// The call of a tool.
pub(crate) const CALL: &str = "tools/call";
/// The notification that cancels a request.
pub(super) const CANCELLED: &str = "notifications/cancelled";

/// The messages of a step. Each is parsed once, at its first use.
pub(crate) struct Wire<'a> {
    messages: &'a [Message],
    read: Vec<OnceCell<Option<Envelope<'a>>>>,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(seen: &'a StepTranscript) -> Self {
        Self::of_all(&seen.messages)
    }

    /// Messages that need not be of a step.
    pub(crate) fn of_all(messages: &'a [Message]) -> Self {
        Self { messages, read: vec![OnceCell::new(); messages.len()] }
    }

    /// The text of the message at an index.
    pub(crate) fn text(&self, place: usize) -> &'a str {
        self.messages.get(place).map_or("", |message| &message.text)
    }

    /// The message at an index; `None` if it is not an envelope.
    pub(crate) fn at(&self, place: usize) -> Option<&Envelope<'a>> {
        let message = self.messages.get(place)?;
        // Most messages need no second look: a line of a log has neither of these members.
        let is_message = |read: &Envelope<'_>| read.id.is_some() || read.method.is_some() || !is_stray(message);
        self.read[place].get_or_init(|| Envelope::read(&message.text).filter(is_message)).as_ref()
    }

    /// The envelopes with their indexes and senders, in their order.
    pub(crate) fn all(&self) -> impl DoubleEndedIterator<Item = (usize, Party, &Envelope<'a>)> {
        let all = self.messages.iter().enumerate();
        all.filter_map(|(place, message)| Some((place, message.from, self.at(place)?)))
    }

    /// The messages of both sides with an envelope, in their order.
    pub(crate) fn by_all(&self) -> impl Iterator<Item = (&'a Message, &Envelope<'a>)> {
        let all = self.messages.iter().enumerate();
        all.filter_map(|(place, message)| Some((message, self.at(place)?)))
    }

    /// The texts of the target that are intended as messages, with their indexes: not a line of a log, nor a page of an error.
    pub(crate) fn intended(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let is_error = |message: &Message| message.status.is_some_and(|status| status >= HTTP_ERROR);
        let is_intended = move |message: &Message| {
            message.from == Party::Target && !is_error(message) && message.cut_from.is_none() && !is_stray(message)
        };
        let all = self.messages.iter().enumerate();
        all.filter(move |(_, one)| is_intended(one)).map(|(place, one)| (place, one.text.as_str()))
    }

    /// The envelopes of one side.
    pub(crate) fn of(&self, party: Party) -> impl DoubleEndedIterator<Item = (usize, &Envelope<'a>)> {
        let own = self.messages.iter().enumerate().filter(move |(_, message)| message.from == party);
        own.filter_map(|(place, _)| Some((place, self.at(place)?)))
    }
}

/// A response to a request of the same step.
pub(crate) struct Answer<'w, 'a> {
    /// The index of the message.
    pub(crate) message: usize,
    /// The index of the request.
    pub(crate) request: usize,
    /// The method of the request.
    pub(crate) method: &'w str,
    pub(crate) envelope: &'w Envelope<'a>,
}

/// The target's responses to the requests of a step, in their order. As for any client, the first response to a request
/// counts, and a response without a request does not.
pub(crate) fn answers<'w, 'a>(wire: &'w Wire<'a>) -> Vec<Answer<'w, 'a>> {
    let mut open: Vec<(serde_json::Value, usize, &str)> = Vec::new();
    let mut answers = Vec::new();
    for (message, from, envelope) in wire.all() {
        let Some(id) = envelope.id.and_then(scalar::<serde_json::Value>) else { continue };
        match (from, &envelope.method) {
            (Party::Harness, Some(method)) => open.push((id, message, method)),
            (Party::Target, None) => {
                if let Some(asked) = open.iter().position(|(asked, ..)| compare::equal(asked, &id)) {
                    let (_, request, method) = open.remove(asked);
                    answers.push(Answer { message, request, method, envelope });
                }
            }
            _ => {}
        }
    }
    answers
}

/// Returns the number of the first page of a list that is equal to an earlier one and names a cursor. Who follows the
/// cursors never has the list.
pub(crate) fn repeated_page(wire: &Wire<'_>) -> Option<usize> {
    // Nearly all steps ask for one page at most.
    wire.of(Party::Harness).filter(|(_, asked)| asked.method.as_deref() == Some(LIST)).nth(1)?;
    let mut seen = BTreeSet::new();
    let place = pages(wire).position(|page| {
        let tools = page.get("tools").map(|tools| tools.get());
        cursor(&page).is_some_and(|cursor| !seen.insert((cursor, tools)))
    });
    place.map(|place| place + 1)
}

/// Returns whether the last page of a list has a cursor for another page.
pub(crate) fn goes_on(wire: &Wire<'_>) -> bool {
    pages(wire).last().is_some_and(|page| cursor(&page).is_some())
}

/// The results of all pages of a list; an error is a page without members.
fn pages<'a>(wire: &Wire<'a>) -> impl Iterator<Item = Members<'a>> {
    let pages = answers(wire).into_iter().filter(|page| page.method == LIST);
    pages.map(|page| page.envelope.members().unwrap_or_default())
}

/// The cursor that a page names, as JSON.
fn cursor<'a>(page: &Members<'a>) -> Option<&'a str> {
    page.get("nextCursor").map(|cursor| cursor.get()).filter(|cursor| *cursor != "null")
}

/// The tools of all pages with their names, in their order; `None` if a page is not a list of tools. Only a response to a
/// `tools/list` request is a page.
pub(crate) fn listed<'a>(wire: &Wire<'a>) -> Option<Vec<(Option<String>, Members<'a>)>> {
    let pages = answers(wire).into_iter().filter(|page| page.method == LIST);
    let results = pages.filter_map(|page| page.envelope.members());
    let mut listed = Vec::new();
    for tools in results.filter_map(|result| result.get("tools").copied()) {
        let tools = items(tools)?.into_iter().map(|tool| members(tool).unwrap_or_default());
        listed.extend(tools.map(|tool| (tool.get("name").and_then(|name| scalar(name)), tool)));
    }
    Some(listed)
}

/// Returns whether the target answered a list with a result, which an error is not.
pub(crate) fn has_list(wire: &Wire<'_>) -> bool {
    answers(wire).iter().any(|page| page.method == LIST && page.envelope.members().is_some())
}

/// The reason why a message cannot be read in one way only; `None` if it can.
pub(crate) fn doubt(message: &Message) -> Option<String> {
    if message.cut_from.is_some() {
        return Some("a message that is longer than is read".to_owned());
    }
    if message.lossy {
        return Some("a message that is not UTF-8".to_owned());
    }
    match serde_json::from_str::<&RawValue>(&message.text) {
        Ok(_) => ambiguity::of_strings(&message.text).map(str::to_owned),
        // A lenient parser may accept this as JSON. No parser accepts other text.
        Err(_) => begins_like_json(&message.text).then(|| "a message that is not quite JSON".to_owned()),
    }
}

/// Returns whether a line over stdio was read whole, has something visible, and is no message. A reply over HTTP, which has
/// a status, is no line.
pub(super) fn is_stray(line: &Message) -> bool {
    let is_read = line.cut_from.is_none() && line.status.is_none();
    let is_one = || {
        let mut values = serde_json::Deserializer::from_str(&line.text).into_iter::<IgnoredAny>();
        !(values.next().is_some_and(|first| first.is_ok()) && values.next().is_some())
    };
    is_read && !message::visible(&line.text).is_empty() && !(message::is_intended(&line.text) && is_one())
}

/// Returns whether the target wrote a message on several lines: the first of them lacks an end, and the next ones go on
/// with it. Nobody may have waited for the last of them.
pub(super) fn is_split(messages: &[Message]) -> bool {
    let is_line = |one: &&Message| one.from == Party::Target && one.status.is_none() && one.headers.is_empty();
    let lines: Vec<&str> = messages.iter().filter(is_line).map(|one| one.text.as_str()).collect();
    let read = |text: &str| serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().next();
    let is_cut = |error: &serde_json::Error| error.is_eof();
    let lacks_end = |text: &str| read(text).is_some_and(|value| value.is_err_and(|error| is_cut(&error)));
    let Some(first) = lines.iter().position(|line| begins_like_json(line) && lacks_end(line)) else { return false };
    let goes_on = lines.get(first + 1).is_some_and(|line| !line.trim().is_empty());
    // The line may have ended within a text.
    goes_on
        && ["\n", "\\n"]
            .into_iter()
            .any(|end| read(&lines[first..].join(end)).is_some_and(|value| value.as_ref().err().is_none_or(is_cut)))
}

/// Returns whether a whole message was sent with bytes that are not UTF-8. A page of an error is no message.
pub(super) fn is_undecoded(message: &Message) -> bool {
    message.lossy && begins_like_json(&message.text) && serde_json::from_str::<&RawValue>(&message.text).is_ok()
}

fn begins_like_json(text: &str) -> bool {
    let is_skipped = |one: char| one.is_whitespace() || one.is_control() || one == '\u{feff}';
    text.trim_start_matches(is_skipped).starts_with(['{', '['])
}

/// Parses a value into a tree, or gives the reason why it is not kept as one.
pub(crate) fn kept(raw: &RawValue) -> Observed {
    kept_text(raw.get())
}

/// Parses a JSON text as [`kept`] does.
pub(crate) fn kept_text(text: &str) -> Observed {
    let depth = nesting::depth(text.as_bytes());
    if depth > KEPT_LEVELS {
        return Observed::Unreadable(format!("{depth} levels deep"));
    }
    if text.len() > KEPT_BYTES {
        return Observed::Unreadable(format!("{} bytes", text.len()));
    }
    if let Some(reason) = ambiguity::of_strings(text).or_else(|| ambiguity::of_numbers(text)) {
        return Observed::Unreadable(reason.to_owned());
    }
    match nesting::read(text.as_bytes()) {
        Ok(value) => Observed::Value(value),
        Err(error) => Observed::Unreadable(error.to_string()),
    }
}

/// Compares two values. Equal texts are equal even if they cannot be read.
pub(crate) fn same(one: &RawValue, other: &RawValue) -> Observed<bool> {
    if one.get() == other.get() {
        return Observed::Value(true);
    }
    Observed::all([kept(one), kept(other)]).map(|values| compare::equal(&values[0], &values[1]))
}

/// Returns whether a message is a reply: a response, or a text that is not a message.
pub(crate) fn is_reply(message: &Message) -> bool {
    !ordered(&message.text).is_some_and(|members| is_request(&members.into_iter().collect()))
}

/// Returns whether a message is a request whose id is null. Its envelope has no id.
pub(super) fn has_null_id(envelope: &Envelope<'_>, text: &str) -> bool {
    let is_null = |members: Vec<(String, &RawValue)>| members.iter().any(|(key, id)| key == "id" && id.get() == "null");
    envelope.method.is_some() && envelope.id.is_none() && text.contains("null") && ordered(text).is_some_and(is_null)
}

/// Returns whether the members are those of a request or a notification by JSON-RPC and the protocol's schema.
fn is_request(members: &Members<'_>) -> bool {
    let begins = |key: &str, with: &[u8]| members.get(key).is_none_or(|raw| with.contains(&raw.get().as_bytes()[0]));
    members.get("jsonrpc").and_then(|version| scalar::<String>(version)).as_deref() == Some("2.0")
        && members.get("method").is_some_and(|method| scalar::<String>(method).is_some())
        && begins("id", b"\"-0123456789")
        && begins("params", b"{n")
        && !members.contains_key("result")
        && !members.contains_key("error")
}

/// Returns whether JSON may be intended as a message: it is an object, or a batch with one.
fn is_object_or_batch(raw: &RawValue) -> bool {
    let is_object = |raw: &RawValue| raw.get().starts_with('{');
    is_object(raw) || items(raw).is_some_and(|items| items.into_iter().any(is_object))
}

/// The parts of a server's reply, as [`whole`] gives them. A malformed request or notification becomes a text, so that it
/// is not mistaken for a response.
pub(crate) fn replied(message: &Message) -> Parts {
    let members = ordered(&message.text).unwrap_or_default();
    let is_response = members.iter().all(|(key, _)| key != "method");
    let mut parts = whole(message);
    if !is_response && doubt(message).is_none() {
        parts.remove("message");
        parts.insert("text".to_owned(), text(&message.text));
    }
    parts
}

/// All parts of a message as it was received: its JSON, or its text if that is not JSON, the HTTP status and the headers.
/// The lines of one header are joined to one value, as HTTP defines it; a repeated line is left out.
pub(crate) fn whole(message: &Message) -> Parts {
    let mut parts = Parts::new();
    let mut part = |name: &str, value| drop(parts.insert(name.to_owned(), value));
    match (doubt(message), serde_json::from_str::<&RawValue>(&message.text)) {
        (Some(reason), _) => part("message", Observed::Unreadable(reason)),
        (None, Ok(raw)) if is_object_or_batch(raw) => part("message", kept(raw)),
        (None, _) if message.text.is_empty() => {}
        (None, _) => part("text", text(&message.text)),
    }
    if let Some(status) = message.status {
        part("status", Observed::Value(status.into()));
    }
    let mut headers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut beyond = message.headers.len() >= HEADERS;
    for (name, value) in &message.headers {
        // The method of a request precedes its headers, as in HTTP/2.
        if let Some(pseudo) = name.strip_prefix(':') {
            part(pseudo, Observed::Value(value.as_str().into()));
        } else {
            beyond |= value.len() >= HEADER_BYTES;
            let lines = headers.entry(name).or_default();
            if !lines.contains(&value.as_str()) {
                lines.push(value);
            }
        }
    }
    if beyond {
        part("headers", Observed::Unreadable("more or longer headers than are kept".to_owned()));
    } else if message.status.is_some() || !message.headers.is_empty() {
        let headers = headers.into_iter().map(|(name, lines)| (name.to_owned(), lines.join(", ").into()));
        part("headers", Observed::Value(headers.collect::<Map<_, _>>().into()));
    }
    parts
}

fn text(text: &str) -> Observed {
    if text.chars().nth(KEPT_TEXT).is_some() {
        Observed::Unreadable(format!("a text of {} bytes", text.len()))
    } else {
        Observed::Value(text.into())
    }
}

/// The texts of a result's text blocks, with `None` for a block without a text; `None` if the content is not a list.
pub(crate) fn texts(result: &Members<'_>) -> Option<Vec<Option<String>>> {
    let blocks = items(result.get("content")?)?;
    let text = |block: &&RawValue| {
        let block = members(block)?;
        let is_text = scalar::<String>(block.get("type")?)? == "text";
        is_text.then(|| block.get("text").and_then(|text| scalar(text)))
    };
    Some(blocks.iter().filter_map(text).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::judge::samples;
    use crate::model::transcript::Party;

    #[test]
    fn message_on_several_lines_is_split() {
        let of = |lines: &[&str]| {
            let line = |text: &&str| Message::new(Party::Target, (*text).to_owned());
            is_split(&lines.iter().map(line).collect::<Vec<_>>())
        };
        assert!(of(&["hello", "{", "  \"jsonrpc\": \"2.0\",", "  \"id\": 1", "}", "{\"a\":1}"]));
        assert!(of(&["{", "  \"jsonrpc\": \"2.0\","]), "nobody waited for the rest");
        assert!(of(&["{\"a\":\"one", "two\"}"]));
        assert!(!of(&["{\"a\":\"cut", "{\"jsonrpc\":\"2.0\"}"]));
        for whole in [&["{\"a\":1}", "{\"a\":2}"][..], &["{oops", "{\"a\":1}"], &["{\"a\":NaN}"], &["{\"a\"", ""]] {
            assert!(!of(whole), "{whole:?}");
        }
    }

    #[test]
    fn two_messages_on_one_line_are_none() {
        let of = |text: &str| is_stray(&Message::new(Party::Target, text.to_owned()));
        assert!(of(r#"{"jsonrpc":"2.0","id":1,"result":{}}{"jsonrpc":"2.0","method":"a"}"#));
        assert!(!of(r#" {"jsonrpc":"2.0","id":1,"result":{}} "#));
    }

    #[test]
    fn only_a_whole_message_can_be_undecoded() {
        let of = |text: &str| is_undecoded(&Message { lossy: true, ..Message::new(Party::Target, text.to_owned()) });
        assert!(of("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"message\":\"arr\u{fffd}t\"}}"));
        for other in [
            "<html>arr\u{fffd}t</html>",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"\u{fffd}",
            "d\u{fffd}marr\u{fffd}",
        ] {
            assert!(!of(other), "{other}");
        }
    }

    #[test]
    fn envelope_is_read_around_a_result_of_any_depth() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{deep}}}}}"#);
        let result = Envelope::read(&text).and_then(|envelope| envelope.members()).expect("an object");
        assert_eq!(kept(result["structuredContent"]), Observed::Unreadable("100000 levels deep".into()));
    }

    #[test]
    fn whole_message_has_headers_and_a_request_is_no_reply() {
        let message = |text: &str, status: Option<u16>| Message {
            status,
            headers: status.map(|_| ("allow".to_owned(), "POST".to_owned())).into_iter().collect(),
            ..samples::message(Party::Target, text)
        };
        let whole = |message: &Message| {
            let parts = whole(message).into_iter();
            parts.map(|(name, part)| (name, part.value().cloned().expect("readable"))).collect::<Value>()
        };
        assert_eq!(whole(&message(r#"{"id":1}"#, None)), json!({"message": {"id": 1}}));
        let headers = json!({"allow": "POST"});
        assert_eq!(whole(&message("", Some(202))), json!({"status": 202, "headers": headers}));
        assert_eq!(whole(&message("no", Some(405))), json!({"status": 405, "headers": headers, "text": "no"}));
        assert!(is_reply(&message("no", Some(405))) && is_reply(&message(r#"{"id":1}"#, None)));
        assert!(!is_reply(&message(r#"{"jsonrpc":"2.0","method":"ping","id":1}"#, None)));
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let headers = vec![header(":method", "POST"), header("accept", "*/*"), header("accept", "text/plain")];
        let asked = Message { headers, ..message(r#"{"id":1}"#, None) };
        assert_eq!(
            whole(&asked),
            json!({"message": {"id": 1}, "method": "POST", "headers": {"accept": "*/*, text/plain"}})
        );
    }

    #[test]
    fn invalid_message_is_no_envelope() {
        let list = r#"[1,"ping",{},{"a":1}]"#;
        for text in ["", "[]", "1", "{", r#"{"method":1}"#, r#"{"result":{"a":1},"result":{}}"#, list] {
            let result = Envelope::read(text).and_then(|envelope| envelope.members().map(|members| members.len()));
            assert_eq!(result, None, "{text}");
        }
    }
}
