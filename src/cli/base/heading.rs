//! The headings of options in `--help`.

pub(in crate::cli) const TARGETS: &str = "Select targets";
pub(in crate::cli) const AD_HOC: &str = "Servers without a target.toml";
pub(in crate::cli) const TESTS: &str = "Select tests";
pub(in crate::cli) const CASES: &str = "Case files";
pub(in crate::cli) const OUTPUT: &str = "Output";
pub(in crate::cli) const RESULT: &str = "Expected results";
pub(in crate::cli) const CLIENT: &str = "Clients without an adapter";
pub(in crate::cli) const EXECUTION: &str = "Execution";
