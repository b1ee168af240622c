//! The tools that a server lists: kept as received, and validated one by one when they are called.
//!
//! The module takes the text of a tool and returns its usable parts. An unusable tool does not affect others. The
//! module must not know how tools are listed or called.

use serde_json::Value;
use serde_json::value::RawValue;

use crate::message::{Members, object, success};
use crate::nesting;
use crate::parameters::Parameter;
use crate::policy::{ClientPolicy, Policy};
use crate::schema::{Schema, SchemaError};

/// A tool.
#[derive(Debug)]
pub(super) struct Tool {
    /// The name; `None` if there is none, so that the tool cannot be called.
    pub(super) name: Option<String>,
    /// The tool as the user receives it.
    pub(super) listed: Box<RawValue>,
    /// The arguments that HTTP headers repeat, or a description of the first invalid mark.
    pub(super) parameters: Result<Vec<Parameter>, String>,
    input: Option<String>,
    output: Option<String>,
    compiled: Option<OutputSchema>,
}

/// The output schema, if there is one, or the reason why the tool is unusable.
type OutputSchema = Result<Option<Schema>, String>;

impl Tool {
    /// Reads a tool. It can be listed even if it is invalid.
    pub(super) fn read(text: Box<RawValue>, policy: &ClientPolicy) -> Self {
        let Ok(members) = serde_json::from_str::<Members>(text.get()) else {
            return Self {
                name: None,
                listed: text,
                parameters: Ok(vec![]),
                input: None,
                output: None,
                compiled: None,
            };
        };
        let member = |key| members.get(key).map(str::to_owned);
        let input = member("inputSchema");
        // A schema that is too deep has no readable marks. It is refused when the tool is called.
        let tree = input.as_ref().and_then(|input| nesting::read::<Value>(input.as_bytes()).ok());
        Self {
            name: member("name").and_then(|name| serde_json::from_str(&name).ok()),
            parameters: tree.as_ref().map_or(Ok(vec![]), |tree| (policy.marks)(tree)),
            output: member("outputSchema"),
            input,
            compiled: None,
            listed: for_user(text, &members, policy),
        }
    }

    /// Returns the `$id` of the output schema.
    pub(super) fn output_id(&self) -> Option<Value> {
        let schema = nesting::read::<Value>(self.output.as_ref()?.as_bytes()).ok()?;
        schema.get("$id").cloned()
    }

    /// Returns the output schema, or `None` if the tool has none.
    ///
    /// # Errors
    /// The reason why the tool is unusable.
    pub(super) async fn output_schema(&mut self, policy: &'static Policy) -> OutputSchema {
        if let Some(compiled) = &self.compiled {
            return compiled.clone();
        }
        let compiled = compile_schemas(self.input.clone(), self.output.clone(), policy).await;
        self.compiled = Some(compiled.clone());
        compiled
    }
}

async fn compile_schemas(input: Option<String>, output: Option<String>, policy: &'static Policy) -> OutputSchema {
    let describe = |of: &'static str| move |error: SchemaError| format!("{of}: {error}");
    let input = input.ok_or("inputSchema is missing")?;
    let input = Schema::read_in_time(input, policy).await.map_err(describe("inputSchema"))?;
    if input.value().get("type").and_then(Value::as_str) != Some("object") {
        return Err("inputSchema: `type` must be \"object\"".to_owned());
    }
    match output {
        None => Ok(None),
        Some(output) => Schema::read_in_time(output, policy).await.map(Some).map_err(describe("outputSchema")),
    }
}

/// Returns a tool as the user receives it: without the members and the keywords that the policy removes.
fn for_user(text: Box<RawValue>, members: &Members, policy: &ClientPolicy) -> Box<RawValue> {
    let lost = policy.lost_keywords;
    if lost.is_empty() && policy.lost_tool_member.is_none() {
        return text;
    }
    let remains = |(key, _): &&(String, Box<RawValue>)| policy.lost_tool_member.is_none_or(|lost| lost != key);
    let without = |(key, value): &(String, Box<RawValue>)| match nesting::read(value.get().as_bytes()) {
        Ok(mut tree) if key.ends_with("Schema") => {
            strip(&mut tree, lost);
            (key.clone(), success(&tree))
        }
        _ => (key.clone(), value.clone()),
    };
    object(&members.0.iter().filter(remains).map(without).collect::<Vec<_>>())
}

fn strip(value: &mut Value, lost: &[&str]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| strip(item, lost)),
        Value::Object(members) => {
            members.retain(|key, _| !lost.contains(&key.as_str()));
            members.values_mut().for_each(|member| strip(member, lost));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mutants::policy;

    fn tool(text: &str, mutant: &str) -> Tool {
        Tool::read(serde_json::from_str(text).expect("JSON"), &policy(mutant).client)
    }

    #[tokio::test]
    async fn unusable_tool_is_listed_unchanged_with_a_reason() {
        let deep = format!(
            r#"{{"type":"object","not":{}{}}}"#,
            r#"{"not":"#.repeat(1_000),
            "1".to_owned() + &"}".repeat(1_000)
        );
        let deep = format!(r#"{{"name":"t","inputSchema":{deep}}}"#);
        for (text, reason) in [
            (r#"{"name":"t"}"#, "inputSchema is missing"),
            (r#"{"name":"t","inputSchema":true}"#, "must be an object"),
            (r#"{"name":"t","inputSchema":{"type":"array"}}"#, "`type` must be"),
            (r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":null}"#, "outputSchema: "),
            (
                r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"$ref":"http://127.0.0.1:1/"}}"#,
                "nothing is fetched",
            ),
            (r#"{"name":"t","inputSchema":{"type":"object","$schema":"urn:x"}}"#, "urn:x"),
            (&deep, "levels"),
        ] {
            let mut tool = tool(text, "");
            assert_eq!(tool.listed.get(), text);
            let error = tool.output_schema(policy("")).await.expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }

    #[tokio::test]
    async fn output_schema_may_have_any_root_type() {
        let mut tool = tool(r#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"null"}}"#, "");
        let schema = tool.output_schema(policy("")).await.expect("a good tool").expect("an output schema");
        assert_eq!(schema.check_now(&json!(null)), Ok(()));
        assert!(schema.check_now(&json!({})).is_err());
    }

    #[test]
    fn invalid_tool_is_listed_without_a_name() {
        for text in ["null", "[]", "{}", r#"{"name":1}"#] {
            let tool = tool(text, "");
            assert_eq!((tool.listed.get(), tool.name), (text, None));
        }
    }

    #[test]
    fn mutants_remove_keywords_from_schemas() {
        let text = r#"{"name":"t","inputSchema":{"type":"object","anyOf":[{}],"properties":{"a":{"enumNames":[]}}}}"#;
        let listed = |mutant| tool(text, mutant).listed.get().to_owned();
        assert!(!listed("schema-keywords-dropped-by-client").contains("anyOf"));
        assert!(!listed("enum-names-lost-by-client").contains("enumNames"));
    }
}
