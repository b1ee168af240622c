//! Expectations that only a working target can meet.
//!
//! The functions look at a [`Check`] alone. This module must not know observations.

use super::case::{Action, CanaryState, Check, Expectation, Matcher, Outcome, TextState};

impl Check {
    /// Returns whether every alternative requires that an operation succeeded.
    pub fn needs_success(&self) -> bool {
        let proves = |one: &Expectation| {
            one.is_evidence() || (!one.outcome.is_empty() && one.outcome.iter().all(|outcome| outcome.is_success()))
        };
        self.asked().next().is_some() && self.asked().all(proves)
    }

    /// Returns whether some alternative requires that an operation succeeded.
    pub fn may_succeed(&self) -> bool {
        let may = |one: &Expectation| {
            if one.outcome.is_empty() {
                one.is_evidence()
            } else {
                one.outcome.iter().any(|outcome| outcome.is_success())
            }
        };
        self.asked().any(may)
    }

    /// The alternatives that hold, and do not show that there is nothing to check.
    fn asked(&self) -> impl Iterator<Item = &Expectation> {
        self.alternatives.iter().filter(|one| !one.not_asked)
    }
}

impl Outcome {
    fn is_success(self) -> bool {
        matches!(self, Self::Success | Self::InputRequired | Self::Accepted)
    }
}

impl Expectation {
    /// Returns whether the expectation requires a value that only working code can return.
    fn is_evidence(&self) -> bool {
        let value = |matcher: &Option<Matcher>| matcher.as_ref().is_some_and(|matcher| *matcher != Matcher::Absent);
        let accepted = self.answered.as_ref().is_some_and(|answered| answered.action == Action::Accept);
        let status = !self.status.is_empty() && self.status.iter().all(|status| *status < 400);
        [&self.saw, &self.structured, &self.asked].into_iter().any(value)
            || accepted
            || status
            || !self.advertised.is_empty()
            || !self.without.is_empty()
            || !self.calls.is_empty()
            || self.text == Some(TextState::Mirrors)
            || self.canary.is_some_and(|state| state != CanaryState::Untouched)
            || self.reply.is_some()
            || self.sent.is_some()
            || self.matches.is_some()
    }
}
