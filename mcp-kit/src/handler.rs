//! MCP request handlers, for both protocol versions (with and without `initialize`).

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelledNotificationParam, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};

use super::call::Call;
use super::definition::{ResourceQuery, Tool};
use super::input::UNREADABLE;
use super::reply;
use super::run_tool::run_tool;
use super::server_state::ServerState;
use shared::error::{Code, Error};
use shared::model::secrets::value_without_secrets;
use shared::workflow::Run;

const JSON: &str = "application/json";

#[derive(Debug, Clone)]
pub(super) struct Handler(pub(super) Arc<ServerState>);

impl Handler {
    /// The first request shows that the agent is running.
    fn mark_connected(&self) {
        self.0.identity.mark_connected();
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let definition = &self.0.definition;
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_prompts()
            .build();
        let mut server = Implementation::new(definition.name(), definition.version);
        server.title = Some(definition.title.to_owned());
        let mut info = ServerConfig::new(capabilities);
        info.server_info = server;
        info.instructions = Some(definition.instructions.to_owned());
        info
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.mark_connected();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        self.mark_connected();
        Ok(DiscoverResult::from_server_info(
            self.supported_protocol_versions().into_owned(),
            self.get_info(),
        ))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.mark_connected();
        let tools = self.0.definition.tools.iter();
        Ok(ListToolsResult::with_all_items(
            tools.map(Tool::describe).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.mark_connected();
        run_tool(&self.0, request, context).await.map(Into::into)
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.mark_connected();
        let resources = self.0.definition.resources.iter();
        let plain = resources.filter(|resource| !resource.uri.ends_with('/'));
        Ok(ListResourcesResult::with_all_items(
            plain
                .map(|resource| {
                    Resource::new(resource.uri, resource.name)
                        .with_description(resource.description)
                        .with_mime_type(JSON)
                })
                .collect(),
        ))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.mark_connected();
        let resources = self.0.definition.resources.iter();
        Ok(ListResourceTemplatesResult::with_all_items(
            resources
                .filter_map(|resource| {
                    let template = ResourceTemplate::new(resource.template?, resource.name)
                        .with_description(resource.description)
                        .with_mime_type(JSON);
                    Some(template)
                })
                .collect(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.mark_connected();
        let uri = request.uri;
        let found = self
            .0
            .definition
            .resources
            .iter()
            .find_map(|resource| Some((resource, query_of(&uri, resource.uri)?)));
        let Some((resource, query)) = found else {
            return Err(ErrorData::resource_not_found(
                format!("{} has no resource `{uri}`", self.0.definition.name()),
                None,
            ));
        };
        let run = Arc::new(Run::new(self.0.shutdown.child_token(), |_| ()));
        let call = Call::new(self.0.identity.clone(), run);
        // Its own task, so that a panic is answered too.
        let read = self.0.tasks.spawn((resource.handler)(call, query)).await;
        // The function may have found the row of an adopted session.
        self.0.identity.begin_serving();
        let read = read.unwrap_or_else(|failure| {
            tracing::error!(%uri, %failure, "a resource panicked");
            let problem = format!("reading {uri} failed unexpectedly; the log has more");
            Err(Error::new(Code::Internal, problem))
        });
        match read {
            Ok(value) => {
                let value = value_without_secrets(value);
                let content = ResourceContents::text(value.to_string(), uri).with_mime_type(JSON);
                Ok(ReadResourceResult::new(vec![content]).into())
            }
            Err(error) => Err(reply::protocol_error(&error)),
        }
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.mark_connected();
        let prompts = self.0.definition.prompts.iter().map(|prompt| {
            let (name, description) = prompt.argument;
            let argument = PromptArgument::new(name)
                .with_description(description)
                .with_required(true);
            Prompt::new(prompt.name, Some(prompt.description), Some(vec![argument]))
                .with_title(prompt.title)
        });
        Ok(ListPromptsResult::with_all_items(prompts.collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.mark_connected();
        let prompts = &self.0.definition.prompts;
        let Some(prompt) = prompts.iter().find(|prompt| prompt.name == request.name) else {
            let problem = format!("there is no prompt `{}`", request.name);
            return Err(ErrorData::invalid_params(problem, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let (name, _) = prompt.argument;
        let Some(value) = arguments.get(name).and_then(|value| value.as_str()) else {
            let problem = format!("the prompt needs the argument `{name}`");
            return Err(ErrorData::invalid_params(problem, None));
        };
        let text = prompt.text.replace("{{argument}}", value);
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message])
            .with_description(prompt.description)
            .into())
    }

    async fn on_cancelled(
        &self,
        notification: CancelledNotificationParam,
        _context: NotificationContext<RoleServer>,
    ) {
        if let Some(id) = &notification.request_id {
            self.0.cancel(id);
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(refusal(&request))
    }
}

/// Returns the error for a request that rmcp could not parse.
fn refusal(request: &CustomRequest) -> ErrorData {
    let method = &request.method;
    if method == UNREADABLE {
        let params = request.params.as_ref();
        let reason = params.and_then(|params| params["reason"].as_str());
        return ErrorData::parse_error(reason.unwrap_or(UNREADABLE).to_owned(), None);
    }
    // rmcp also passes on requests with a known method and invalid parameters.
    if ["prompts/get", "resources/read", "tools/call"].contains(&method.as_str()) {
        let problem = format!("the parameters of {method} are missing or invalid");
        return ErrorData::invalid_params(problem, None);
    }
    let problem = format!("there is no method `{method}`");
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, problem, None)
}

/// Parses a requested URI, if it belongs to this resource.
fn query_of(requested: &str, resource: &str) -> Option<ResourceQuery> {
    let (path, query) = requested.split_once('?').unwrap_or((requested, ""));
    let rest = path.strip_prefix(resource)?;
    if !rest.is_empty() && !resource.ends_with('/') {
        return None;
    }
    let offset = query
        .split('&')
        .find_map(|pair| pair.strip_prefix("offset="))
        .map_or(Some(0), |text| text.parse().ok())?;
    Some(ResourceQuery {
        rest: rest.to_owned(),
        offset,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        assert_eq!(
            query_of("codex://tasks", "codex://tasks").unwrap().offset,
            0
        );
        assert_eq!(
            query_of("codex://tasks?offset=50", "codex://tasks")
                .unwrap()
                .offset,
            50
        );
        assert!(query_of("codex://tasks?offset=-1", "codex://tasks").is_none());
        assert!(query_of("codex://tasksandmore", "codex://tasks").is_none());
        let report = query_of("codex://analysis/a1?offset=2", "codex://analysis/").unwrap();
        assert_eq!((report.rest.as_str(), report.offset), ("a1", 2));
    }
}
