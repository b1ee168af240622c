//! Tools that ask with a form that the SDK derives from a type.
//!
//! <https://github.com/modelcontextprotocol/rust-sdk#server-side-form-mode>

use std::collections::BTreeMap;

use chrono::NaiveDate;
use rmcp::{
    ErrorData, RoleServer, elicit_safe,
    handler::server::tool::InputResponses,
    model::{
        CallToolResponse, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationSchema,
        InputRequest, InputRequests, InputRequiredResult,
    },
    service::{ElicitationSafe, RequestContext},
    tool, tool_router,
};
use rust_decimal::Decimal;
use schemars::{JsonSchema, JsonSchema_repr};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::json;
use serde_repr::{Deserialize_repr, Serialize_repr};
use uuid::Uuid;

use crate::{
    fixture::{QUESTION, Server, failure, has_initialize},
    typed,
};

const MESSAGE: &str = "Please answer.";

#[derive(Serialize, Deserialize, JsonSchema)]
struct Plain {
    name: String,
    agree: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Choice {
    color: Name,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Choices {
    #[schemars(length(min = 1, max = 2))]
    colors: Vec<MoreNames>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct ChoiceDefault {
    #[serde(default)]
    color: Name,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum Name {
    Red,
    #[default]
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum MoreNames {
    Red,
    Green,
    Blue,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct TitledChoice {
    color: Color,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct TitledChoices {
    colors: Vec<Color>,
}

// https://github.com/modelcontextprotocol/rust-sdk#enum-values
#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[schemars(extend("type" = "string"))]
enum Color {
    #[serde(rename = "#f00")]
    #[schemars(title = "Red")]
    Red,
    #[serde(rename = "#0f0")]
    #[schemars(title = "Green")]
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(default)]
struct Defaults {
    name: String,
    count: i64,
    ratio: f64,
    agree: bool,
}

impl Default for Defaults {
    fn default() -> Self {
        Self { name: "Ada".to_owned(), count: 3, ratio: 0.5, agree: true }
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Optional {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nullable {
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Bounds {
    #[schemars(range(min = 0, max = 150))]
    age: i64,
    #[schemars(length(min = 1, max = 5))]
    code: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Date {
    day: NaiveDate,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Nested {
    person: Person,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Person {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Enum {
    color: Code,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
enum Code {
    #[serde(rename = "#f00")]
    Red,
    #[serde(rename = "#0f0")]
    Green,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Levels {
    level: Level,
}

// https://docs.rs/schemars/1.2.3/schemars/derive.JsonSchema_repr.html
#[derive(Serialize_repr, Deserialize_repr, JsonSchema_repr)]
#[schemars(inline)]
#[repr(u8)]
enum Level {
    Low = 1,
    High = 2,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Above {
    #[schemars(range(min = 1))]
    count: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Texts {
    tags: Vec<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Id {
    id: Uuid,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Price {
    price: Decimal,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Union {
    value: IntegerOrText,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum IntegerOrText {
    Integer(i64),
    Text(String),
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counts {
    counts: BTreeMap<String, i64>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Map(BTreeMap<String, i64>);

#[derive(Serialize, Deserialize, JsonSchema)]
struct ChoicesDefault {
    #[serde(default = "only_red")]
    colors: Vec<Name>,
}

fn only_red() -> Vec<Name> {
    vec![Name::Red]
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct SingleChoice {
    color: OnlyRed,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum OnlyRed {
    Red,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Described {
    /// In years
    #[schemars(title = "Your age")]
    age: i64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    name: String,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Note {
    note: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct Alone(String);

elicit_safe!(Plain, Choice, Choices, ChoiceDefault, TitledChoice, TitledChoices, Defaults);
elicit_safe!(Optional, Nullable, Bounds, Date, Nested);
elicit_safe!(Enum, Levels, Above, Texts, Id, Price, Union, Counts, Map);
elicit_safe!(ChoicesDefault, SingleChoice, Described, Closed, Note, Alone);

type Context = RequestContext<RoleServer>;
type Answer = Result<CallToolResponse, ErrorData>;

#[tool_router(router = forms, vis = "pub(super)")]
impl Server {
    #[tool(name = "form-plain", description = "Asks the user.")]
    async fn form_plain(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Plain>(context, answers).await
    }

    #[tool(name = "form-choice", description = "Asks the user.")]
    async fn form_choice(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Choice>(context, answers).await
    }

    #[tool(name = "form-titled-choice", description = "Asks the user.")]
    async fn form_titled_choice(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<TitledChoice>(context, answers).await
    }

    #[tool(name = "form-choices", description = "Asks the user.")]
    async fn form_choices(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Choices>(context, answers).await
    }

    #[tool(name = "form-titled-choices", description = "Asks the user.")]
    async fn form_titled_choices(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<TitledChoices>(context, answers).await
    }

    #[tool(name = "form-defaults", description = "Asks the user.")]
    async fn form_defaults(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Defaults>(context, answers).await
    }

    #[tool(name = "form-choice-default", description = "Asks the user.")]
    async fn form_choice_default(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<ChoiceDefault>(context, answers).await
    }

    #[tool(name = "form-optional", description = "Asks the user.")]
    async fn form_optional(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Optional>(context, answers).await
    }

    #[tool(name = "form-nullable", description = "Asks the user.")]
    async fn form_nullable(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Nullable>(context, answers).await
    }

    #[tool(name = "form-bounds", description = "Asks the user.")]
    async fn form_bounds(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Bounds>(context, answers).await
    }

    #[tool(name = "form-date", description = "Asks the user.")]
    async fn form_date(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Date>(context, answers).await
    }

    #[tool(name = "form-nested", description = "Asks the user.")]
    async fn form_nested(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Nested>(context, answers).await
    }

    #[tool(name = "form-enum", description = "Asks the user.")]
    async fn form_enum(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Enum>(context, answers).await
    }

    #[tool(name = "form-levels", description = "Asks the user.")]
    async fn form_levels(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Levels>(context, answers).await
    }

    #[tool(name = "form-above", description = "Asks the user.")]
    async fn form_above(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Above>(context, answers).await
    }

    #[tool(name = "form-texts", description = "Asks the user.")]
    async fn form_texts(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Texts>(context, answers).await
    }

    #[tool(name = "form-uuid", description = "Asks the user.")]
    async fn form_uuid(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Id>(context, answers).await
    }

    #[tool(name = "form-decimal", description = "Asks the user.")]
    async fn form_decimal(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Price>(context, answers).await
    }

    #[tool(name = "form-union", description = "Asks the user.")]
    async fn form_union(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Union>(context, answers).await
    }

    #[tool(name = "form-counts", description = "Asks the user.")]
    async fn form_counts(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Counts>(context, answers).await
    }

    #[tool(name = "form-choices-default", description = "Asks the user.")]
    async fn form_choices_default(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<ChoicesDefault>(context, answers).await
    }

    #[tool(name = "form-single-choice", description = "Asks the user.")]
    async fn form_single_choice(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<SingleChoice>(context, answers).await
    }

    #[tool(name = "form-described", description = "Asks the user.")]
    async fn form_described(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Described>(context, answers).await
    }

    #[tool(name = "form-closed", description = "Asks the user.")]
    async fn form_closed(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Closed>(context, answers).await
    }

    #[tool(name = "form-note", description = "Asks the user.")]
    async fn form_note(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Note>(context, answers).await
    }

    #[tool(name = "form-alone", description = "Asks the user.")]
    async fn form_alone(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Alone>(context, answers).await
    }

    #[tool(name = "form-map", description = "Asks the user.")]
    async fn form_map(&self, context: Context, answers: InputResponses) -> Answer {
        ask::<Map>(context, answers).await
    }
}

/// Asks with `Peer::elicit` or, from 2026-07-28 on, returns the question, as the documentation of `Peer::elicit` says.
/// <https://docs.rs/rmcp/3.11.0/rmcp/service/struct.Peer.html#method.elicit>
async fn ask<T: ElicitationSafe + Serialize + DeserializeOwned + Send>(
    context: Context,
    answers: InputResponses,
) -> Answer {
    if has_initialize(&context) {
        return Ok(match typed::ask::<T>(context.peer, MESSAGE.to_owned()).await {
            Ok(answer) => CallToolResult::structured(answer).into(),
            Err(error) => failure(&error),
        });
    }
    let Some(answer) = answers.0.as_ref().and_then(|answers| answers.get(QUESTION)) else {
        let requested_schema = match ElicitationSchema::from_type::<T>() {
            Ok(form) => form,
            Err(error) => return Ok(failure(&error)),
        };
        let question =
            ElicitRequestParams::FormElicitationParams { meta: None, message: MESSAGE.to_owned(), requested_schema };
        let request = InputRequest::Elicitation(ElicitRequest::new(question));
        return Ok(
            InputRequiredResult::from_input_requests(InputRequests::from([(QUESTION.to_owned(), request)])).into()
        );
    };
    let invalid = |error: serde_json::Error| ErrorData::invalid_params(error.to_string(), None);
    let answer = ElicitResult::deserialize(answer).map_err(invalid)?;
    let mut returned = json!({ "action": answer.action });
    if let Some(content) = answer.content {
        returned["content"] = json!(T::deserialize(content).map_err(invalid)?);
    }
    Ok(CallToolResult::structured(returned).into())
}
