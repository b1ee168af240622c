//! Several calls that run at once, as `matches` sees them.
//!
//! Takes the observations of the calls, gives one value. Must not know expectations.

use serde_json::Value;

use super::json;
use crate::model::observation::{CallAtOnceObservation, Observed, ResponseAtOnce};

/// The calls that run at once; unreadable if an argument that the code of a tool received is.
pub(super) fn view(calls: &[CallAtOnceObservation]) -> Observed {
    let mut saw = calls.iter().flat_map(|call| &call.responses).filter_map(|response| response.saw.as_ref());
    let unreadable = saw.find_map(Observed::reason).map(|reason| Observed::Unreadable(reason.to_owned()));
    let response = |one: &ResponseAtOnce| {
        let on = one.on.map(|on| ("on".to_owned(), json(&on)));
        let saw = one.saw.as_ref().and_then(Observed::value).map(|saw| ("saw".to_owned(), saw.clone()));
        Value::Object(on.into_iter().chain(saw).collect())
    };
    let call = |call: &CallAtOnceObservation| {
        let code = call.code.map(|code| ("code".to_owned(), code.into()));
        let responses = Value::Array(call.responses.iter().map(response).collect());
        let members = [("outcome".to_owned(), json(&call.outcome)), ("responses".to_owned(), responses)];
        Value::Object(members.into_iter().chain(code).collect())
    };
    unreadable.unwrap_or_else(|| Observed::Value(Value::Array(calls.iter().map(call).collect())))
}
