//! `Definition`: the tools, resources and prompts of a server, with their JSON schemas.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{JsonObject, MetaObject, Tool as ToolDescription, ToolAnnotations};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::call::Call;
use shared::error::{Code, Error};
use shared::model::InstanceKind;

pub(super) type Answer = Pin<Box<dyn Future<Output = Result<Value, Error>> + Send>>;
type ToolHandler = Arc<dyn Fn(Call, JsonObject) -> Answer + Send + Sync>;
type ResourceHandler = Arc<dyn Fn(Call, ResourceQuery) -> Answer + Send + Sync>;

/// One server: its role, tools, resources and prompts.
#[derive(Debug, Clone)]
pub struct Definition {
    pub kind: InstanceKind,
    pub version: &'static str,
    pub title: &'static str,
    /// How the model should use this server.
    pub instructions: &'static str,
    pub tools: Vec<Tool>,
    pub resources: Vec<Resource>,
    pub prompts: Vec<Prompt>,
}

impl Definition {
    /// Returns the name of the server, which is also the name of its binary.
    pub const fn name(&self) -> &'static str {
        self.kind.server_name()
    }
}

/// The effects of a tool, for MCP's tool annotations.
#[derive(Debug, Clone, Copy)]
pub enum Effects {
    /// Reads only, also from the network.
    ReadOnlyOpenWorld,
    /// Changes local state; not idempotent.
    Local,
    /// May change remote state; idempotent.
    OpenWorldIdempotent,
    /// Changes local state; idempotent.
    LocalIdempotent,
    /// May change remote state; not idempotent.
    OpenWorld,
}

impl Effects {
    fn annotations(self, title: &str) -> ToolAnnotations {
        let (read_only, idempotent, open_world) = match self {
            Self::ReadOnlyOpenWorld => (true, true, true),
            Self::Local => (false, false, false),
            Self::LocalIdempotent => (false, true, false),
            Self::OpenWorld => (false, false, true),
            Self::OpenWorldIdempotent => (false, true, true),
        };
        // No tool of ours deletes work.
        ToolAnnotations::with_title(title)
            .read_only(read_only)
            .destructive(false)
            .idempotent(idempotent)
            .open_world(open_world)
    }
}

/// One tool: its description and its function.
#[derive(Clone)]
pub struct Tool {
    pub(super) name: &'static str,
    title: &'static str,
    description: &'static str,
    effects: Effects,
    /// Generates the schemas of request and reply: the slowest step of a server's start, so only on request.
    schemas: fn() -> (JsonObject, JsonObject),
    pub(super) data_as_text: bool,
    pub(super) handler: ToolHandler,
}

impl fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Tool")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Tool {
    /// Creates a tool from a function; its schemas come from the request and reply types.
    pub fn new<Request, Reply, Function, Future>(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        effects: Effects,
        function: Function,
    ) -> Self
    where
        Request: DeserializeOwned + JsonSchema + Send + 'static,
        Reply: Serialize + JsonSchema + 'static,
        Function: Fn(Call, Request) -> Future + Send + Sync + 'static,
        Future: std::future::Future<Output = Result<Reply, Error>> + Send + 'static,
    {
        let function = Arc::new(function);
        let handler = move |call: Call, arguments: JsonObject| -> Answer {
            let function = Arc::clone(&function);
            Box::pin(async move {
                let request = serde_json::from_value(Value::Object(arguments))
                    .map_err(|error| refused(&error))?;
                let reply = function(call, request).await?;
                serde_json::to_value(reply)
                    .map_err(|error| Error::new(Code::Internal, error.to_string()))
            })
        };
        Self {
            name,
            title,
            description,
            effects,
            schemas: || (schema_of::<Request>(), reply_or_error::<Reply>()),
            data_as_text: false,
            handler: Arc::new(handler),
        }
    }

    /// Repeats the data as text, for replies whose message can't summarise it.
    #[must_use]
    pub fn with_data_as_text(mut self) -> Self {
        self.data_as_text = true;
        self
    }

    /// Returns the description for clients. Not cached: a client asks once.
    pub(super) fn describe(&self) -> ToolDescription {
        let (input, output) = (self.schemas)();
        ToolDescription::new(self.name, self.description, Arc::new(input))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(self.effects.annotations(self.title))
            .with_meta(always_loaded())
    }
}

/// Claude Code defers the tools of MCP servers until the model searches for them, unless they say otherwise: agents are told to call ours.
fn always_loaded() -> MetaObject {
    let mut meta = MetaObject::default();
    meta.insert("anthropic/alwaysLoad".to_owned(), Value::Bool(true));
    meta
}

/// Returns the schema of a type, without title and description: the tool has its own.
///
/// rmcp's functions would keep three copies of each schema.
fn schema_of<Type: JsonSchema>() -> JsonObject {
    // Formats such as uint64 are schemars' own: validators warn of those that they do not know.
    let plain = RecursiveTransform(|schema: &mut Schema| {
        schema.remove("format");
    });
    let settings = SchemaSettings::draft2020_12().with_transform(plain);
    let generator = settings.into_generator();
    let schema = generator.into_root_schema_for::<Type>();
    let Ok(Value::Object(mut schema)) = serde_json::to_value(schema) else {
        return JsonObject::new();
    };
    schema.remove("title");
    schema.remove("description");
    schema
}

/// Returns the output schema of a tool: its reply, or an error.
///
/// Clients validate the structured content of failed calls too, and would show the agent their
/// validation error instead of ours.
fn reply_or_error<Reply: JsonSchema>() -> JsonObject {
    let mut schema = schema_of::<Reply>();
    let reply = schema.remove("required").unwrap_or_else(|| json!([]));
    let error = json!({ "required": ["code", "message"] });
    schema.insert("anyOf".to_owned(), json!([{ "required": reply }, error]));
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, kind, description) in [
            ("message", "string", "What happened."),
            ("code", "string", "Only if it failed: a stable code."),
            ("hint", "string", "Only if it failed: what to do about it."),
            ("details", "object", "Only if it failed: data about it."),
        ] {
            let property = json!({ "type": kind, "description": description });
            properties.entry(name).or_insert(property);
        }
    }
    schema
}

fn refused(error: &serde_json::Error) -> Error {
    Error::new(Code::InvalidArguments, bounded(error.to_string()))
        .hint("Compare the arguments with the tool's input schema and call again.")
}

/// Shortens a message that quotes the arguments. Its end says what was expected.
fn bounded(message: String) -> String {
    const START: usize = 300;
    const END: usize = 300;
    let length = message.chars().count();
    if length <= START + END {
        return message;
    }
    let start: String = message.chars().take(START).collect();
    let end: String = message.chars().skip(length - END).collect();
    format!("{start}…{end}")
}

/// The variable parts of a requested URI.
#[derive(Debug, Clone, Default)]
pub struct ResourceQuery {
    /// The part after the resource's own URI, such as an id.
    pub rest: String,
    pub offset: u64,
}

/// One resource: read-only state.
#[derive(Clone)]
pub struct Resource {
    pub(super) uri: &'static str,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    /// RFC 6570 template, for URIs with `?offset=` or an id.
    pub(super) template: Option<&'static str>,
    pub(super) handler: ResourceHandler,
}

impl fmt::Debug for Resource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Resource")
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}

impl Resource {
    pub fn new<Function, Future>(
        uri: &'static str,
        name: &'static str,
        description: &'static str,
        function: Function,
    ) -> Self
    where
        Function: Fn(Call, ResourceQuery) -> Future + Send + Sync + 'static,
        Future: std::future::Future<Output = Result<Value, Error>> + Send + 'static,
    {
        Self {
            uri,
            name,
            description,
            template: None,
            handler: Arc::new(move |call, query| Box::pin(function(call, query))),
        }
    }

    /// Sets the RFC 6570 template of the URI.
    #[must_use]
    pub fn with_template(mut self, template: &'static str) -> Self {
        self.template = Some(template);
        self
    }
}

/// Role instructions that a person can insert into a conversation.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// Name and description of its only argument.
    pub argument: (&'static str, &'static str),
    /// The text; `{{argument}}` is replaced by the argument.
    pub text: &'static str,
}
