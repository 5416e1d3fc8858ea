import { ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import packageFile from '../../package.json' with { type: 'json' };
import type { Scope } from '../context.ts';
import { missingScope } from '../accounts/authentication/scopes.ts';
import { toInputSchema } from './input-schema.ts';
import { findOperation, type OpenApiDocument, type Operation } from './operations.ts';
import { toHttpRequest, type ToolRequestContext } from './tool-request.ts';
import { errorResult, toToolResult } from './tool-result.ts';
import { instructions, tools, type ToolDescription } from './tools.ts';

/** A tool with its operation and its entry in `tools/list`. */
export interface PreparedTool {
  description: ToolDescription;
  operation: Operation;
  listed: Tool;
}

/** All tools by name. Throws an Error when a tool does not fit the OpenAPI document. */
export function prepareTools(document: OpenApiDocument, basePath: string): Map<string, PreparedTool> {
  return new Map(
    tools.map((description) => {
      const operation = findOperation(document, description.operation, basePath);
      const isReading = description.isReading ?? operation.method === 'GET';
      const listed: Tool = {
        name: description.name,
        title: description.title,
        description: description.description,
        inputSchema: toInputSchema(document, operation, description) as Tool['inputSchema'],
        annotations: {
          title: description.title,
          readOnlyHint: isReading,
          destructiveHint: description.isDestructive ?? false,
          openWorldHint: description.isDestructive ?? false,
        },
      };
      return [description.name, { description, operation, listed }];
    }),
  );
}

/** The MCP server of one request: lists the tools that `scopes` allow, and runs a tool's operation through `dispatch`. */
export function createServer(
  prepared: Map<string, PreparedTool>,
  scopes: Scope[],
  requestContext: ToolRequestContext,
  dispatch: (request: Request) => Promise<Response>,
): Server {
  const server = new Server(
    { name: packageFile.name, title: 'Voice Agent Automation Service', version: packageFile.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: [...prepared.values()]
      .filter(({ operation: { method, path } }) => missingScope(scopes, method, path) === null)
      .map(({ listed }) => listed),
  }));
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = prepared.get(params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}; tools/list names all`);
    const request = toHttpRequest(tool.operation, tool.description, params.arguments ?? {}, requestContext);
    return typeof request === 'string' ? errorResult(request) : toToolResult(await dispatch(request));
  });
  return server;
}
