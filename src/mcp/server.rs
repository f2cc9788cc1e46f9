//! The server, with the tools and resources of the protocol.

use std::sync::Arc;

use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::schema_for_output;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorData, Implementation, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Serialize;

use crate::arguments::{
    AllocationArguments, DiffArguments, ExplainArguments, FindingsArguments, GpusArguments, KernelArguments,
    PredictArguments, RunArguments, SourceArguments,
};
use crate::error::{Refusal, ServeError};
use crate::pages::{Limit, page};
use crate::profiles::Profiles;
use crate::resources;
use crate::roots::Roots;
use crate::settings::Settings;
use crate::tools::{self, Answer, Shared};

const INSTRUCTIONS: &str = "Memory profiles of CUDA programs, with or without a GPU. Start with `profile` (or a profile that \
    exists: list the resources), read `findings`, then `source` of the line and `explain` of the id; change the code, `profile` \
    again and compare with `diff`. Figures are counted, modelled or estimated; each finding states which. Answers are pages: \
    `next_cursor` leads to the next one.";

/// Position of a page within its answer.
#[derive(Debug, Serialize, JsonSchema)]
struct Position {
    /// Cursor of the next page; null after the last page, and for runs.
    next_cursor: Option<String>,
    /// Number of lines of this page.
    lines: usize,
    /// Number of lines of the whole answer.
    lines_total: usize,
    /// URI of the profile that the answer is about.
    profile: Option<String>,
}

/// A server. Each connection has a clone.
#[derive(Clone)]
pub(crate) struct Server {
    shared: Arc<Shared>,
    tool_router: ToolRouter<Server>,
}

impl Server {
    /// Prepares the folders.
    pub(crate) fn new(settings: &Settings) -> Result<Server, ServeError> {
        let shared = Shared {
            roots: Roots::new(&settings.roots)?,
            profiles: Profiles::new(settings.memory),
            executable: settings.executable.clone(),
            seconds: settings.seconds.max(1),
            memory: settings.memory,
            turn: tokio::sync::Semaphore::new(1),
        };
        Ok(Server { shared: Arc::new(shared), tool_router: Server::tool_router() })
    }

    /// Computes an answer from profiles, outside of the thread that serves connections.
    async fn read<A: Send + 'static>(
        &self,
        arguments: A,
        tool: fn(&Shared, &A) -> Result<Answer, Refusal>,
        bounds: impl Fn(&A) -> (Option<u64>, Option<String>),
    ) -> Result<CallToolResult, ErrorData> {
        let (max_tokens, cursor) = bounds(&arguments);
        let limit = match Limit::new(max_tokens) {
            Ok(limit) => limit,
            Err(refusal) => return Ok(refused(&refusal)),
        };
        let shared = Arc::clone(&self.shared);
        let work =
            move || tool(&shared, &arguments).and_then(|answer| shown(&answer, limit, Pages::At(cursor.as_deref())));
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => Ok(result.unwrap_or_else(|refusal| refused(&refusal))),
            Err(error) => Err(ErrorData::internal_error(format!("the tool failed: {error}; please report this"), None)),
        }
    }
}

/// Returns the page of an answer as the result of a tool.
fn shown(answer: &Answer, limit: Limit, pages: Pages<'_>) -> Result<CallToolResult, Refusal> {
    let (cursor, has_more) = match pages {
        Pages::First => (None, false),
        Pages::At(cursor) => (cursor, true),
    };
    let page = page(&answer.text, limit, cursor)?;
    let position = Position {
        next_cursor: page.next_cursor.filter(|_| has_more),
        lines: page.lines,
        lines_total: page.lines_total,
        profile: answer.profile.clone(),
    };
    let value = serde_json::to_value(&position).map_err(|error| Refusal::Failed(error.to_string()))?;
    let mut result = CallToolResult::success(vec![ContentBlock::text(page.text)]);
    if position.next_cursor.is_some() || position.profile.is_some() {
        // The text is for clients that do not show structured content.
        result.content.push(ContentBlock::text(value.to_string()));
    }
    result.structured_content = Some(value);
    Ok(result)
}

/// Returns a refusal as a result, which the client's language model reads.
fn refused(refusal: &Refusal) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(refusal.to_string())])
}

/// Returns the result of a tool that ran a command. The rest of its answer is not kept.
fn ran(answer: Result<Answer, Refusal>, max_tokens: Option<u64>, cursor: Option<&str>) -> CallToolResult {
    let result = Limit::new(max_tokens).and_then(|limit| shown(&answer?, limit, Pages::At(cursor)));
    result.unwrap_or_else(|refusal| refused(&refusal))
}

/// Returns the result of a tool that ran a program. It has one page, because another page would need another run.
fn ran_once(answer: Result<Answer, Refusal>, max_tokens: Option<u64>) -> CallToolResult {
    let result = Limit::new(max_tokens).and_then(|limit| shown(&answer?, limit, Pages::First));
    result.unwrap_or_else(|refusal| refused(&refusal))
}

/// The requested page of an answer.
#[derive(Clone, Copy)]
enum Pages<'a> {
    /// The first page, without further pages.
    First,
    /// The page at a cursor.
    At(Option<&'a str>),
}

#[tool_router]
impl Server {
    #[tool(
        description = "Compile CUDA sources, run the program on the CPU device and record its memory profile; answers with the brief: \
                       verdict, findings, kernels. Needs no GPU. The program runs with the rights of the server, within its limits of \
                       time and memory",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = false, destructive_hint = true, open_world_hint = true)
    )]
    async fn profile(
        &self,
        Parameters(arguments): Parameters<RunArguments>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Err(refusal) = Limit::new(arguments.max_tokens) {
            return Ok(refused(&refusal));
        }
        Ok(ran_once(tools::profile(&self.shared, &arguments, &context).await, arguments.max_tokens))
    }

    #[tool(
        description = "Compile and run as `profile` does, with checks for out-of-bounds and misaligned accesses, barriers and races; \
                       answers with the errors, a line of JSON each",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = false, destructive_hint = true, open_world_hint = true)
    )]
    async fn check(
        &self,
        Parameters(arguments): Parameters<RunArguments>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Err(refusal) = Limit::new(arguments.max_tokens) {
            return Ok(refused(&refusal));
        }
        Ok(ran_once(tools::check(&self.shared, &arguments, &context).await, arguments.max_tokens))
    }

    #[tool(
        description = "Findings of a profile, the most important first, a line of JSON each: id, cause, remedy, confidence, position, \
                       source line, reason, change, gain, numbers",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn findings(
        &self,
        Parameters(arguments): Parameters<FindingsArguments>,
    ) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, tools::findings, |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "Source of a profile, annotated with traffic, lanes, sectors per request, coalescing, hit rates and passes of each \
                       line; with `line`, everything of that line",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn source(&self, Parameters(arguments): Parameters<SourceArguments>) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, tools::source, |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "A kernel of a profile: what limits it, its lines, allocations, branches and launches; or the list of kernels",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn kernel(&self, Parameters(arguments): Parameters<KernelArguments>) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, tools::kernel, |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "An allocation of a profile: where it is made, copied, used and freed; or the list of allocations",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn allocation(
        &self,
        Parameters(arguments): Parameters<AllocationArguments>,
    ) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, tools::allocation, |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "What differs between two profiles of a program: figures, lines, allocations, new and gone findings",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn diff(&self, Parameters(arguments): Parameters<DiffArguments>) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, tools::diff, |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "Predict other block shapes, parameters or GPU models of a kernel that was profiled; best first, without a run",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn predict(
        &self,
        Parameters(arguments): Parameters<PredictArguments>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Err(refusal) = Limit::new(arguments.max_tokens) {
            return Ok(refused(&refusal));
        }
        let answer = tools::predict(&self.shared, &arguments, &context).await;
        Ok(ran(answer, arguments.max_tokens, arguments.cursor.as_deref()))
    }

    #[tool(
        description = "The page of a finding: what it means, its causes and remedies; or the list of findings",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn explain(&self, Parameters(arguments): Parameters<ExplainArguments>) -> Result<CallToolResult, ErrorData> {
        self.read(arguments, |_, one| tools::explain(one), |one| (one.max_tokens, one.cursor.clone())).await
    }

    #[tool(
        description = "The GPU models, or the figures of one with their sources",
        output_schema = schema_for_output::<Position>(),
        annotations(read_only_hint = true)
    )]
    async fn gpus(
        &self,
        Parameters(arguments): Parameters<GpusArguments>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        if let Err(refusal) = Limit::new(arguments.max_tokens) {
            return Ok(refused(&refusal));
        }
        let answer = tools::gpus(&self.shared, &arguments, &context).await;
        Ok(ran(answer, arguments.max_tokens, arguments.cursor.as_deref()))
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(Implementation::new("warpline", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let cursor = request.and_then(|request| request.cursor);
        let (found, next_cursor) = blocking(move || resources::list(&shared, cursor.as_deref())).await?;
        Ok(ListResourcesResult { next_cursor, ..ListResourcesResult::with_all_items(found) })
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let contents = blocking(move || resources::read(&shared, &request.uri)).await?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

/// Runs work outside of the thread that serves connections.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, ErrorData> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result.map_err(|refusal| ErrorData::invalid_params(refusal.to_string(), None)),
        Err(error) => Err(ErrorData::internal_error(format!("the request failed: {error}; please report this"), None)),
    }
}
