//! The state that the author of a tool gives with a question, as the text of a `requestState`.
//!
//! The module takes a value and the call that it belongs to, and returns a text that expires, and that is valid for no
//! other call. It must not know how the text is transmitted.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use crate::policy::RequestsPolicy;
use crate::server::seal::Seal;

/// The default lifetime of a state, in seconds.
const SECONDS: u64 = 600;

/// The state that a fixture gives to a tool.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct State {
    pub(crate) value: String,
    /// The lifetime of the state.
    seconds: Option<u64>,
}

impl State {
    /// Returns the text of this state for a call.
    pub(crate) fn issue(&self, seal: &Seal, call: &str) -> String {
        let expiry = now() + 1_000 * u128::from(self.seconds.unwrap_or(SECONDS));
        let digits = self.value.bytes().fold(String::new(), |mut digits, byte| {
            _ = write!(digits, "{byte:02x}");
            digits
        });
        let signed = format!("{expiry}.{digits}");
        let seal = seal.of(&[call, &signed]);
        format!("{signed}.{seal}")
    }
}

/// Returns the value of a state that was issued for this call, or the reason why there is none.
pub(crate) fn read(text: &str, seal: &Seal, call: &str, policy: &RequestsPolicy) -> Result<String, &'static str> {
    let parts = text.rsplit_once('.').and_then(|(signed, seal)| Some((signed, seal, signed.split_once('.')?)));
    let Some((signed, sealed_as, (expiry, digits))) = parts else {
        return if policy.checks_state { Err("`requestState` is malformed") } else { Ok(text.to_owned()) };
    };
    if policy.checks_state && seal.of(&[call, signed]) != sealed_as {
        return Err("`requestState` was not issued for this call");
    }
    if policy.checks_expiry && expiry.parse().is_ok_and(|expiry: u128| now() > expiry) {
        return Err("`requestState` has expired");
    }
    let bytes = digits.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let value = bytes.collect::<Option<Vec<u8>>>().and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(value.unwrap_or_else(|| text.to_owned()))
}

/// The current time, in milliseconds.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_is_read_for_its_own_call_until_it_expires() {
        let (seal, policy) = (Seal::new(), RequestsPolicy::STRICT);
        let state = |seconds| State { value: "é.1".to_owned(), seconds };
        let text = state(None).issue(&seal, "a");
        assert_eq!(read(&text, &seal, "a", &policy).as_deref(), Ok("é.1"));
        assert!(read(&text, &seal, "b", &policy).is_err());
        assert!(read(&text.replacen('1', "2", 1), &seal, "a", &policy).is_err());
        assert!(read("forged", &seal, "a", &policy).is_err());
        let text = state(Some(0)).issue(&seal, "a");
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(read(&text, &seal, "a", &policy).is_err());
    }
}
