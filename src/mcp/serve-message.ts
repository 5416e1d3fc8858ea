import { createMcpHandler } from '@modelcontextprotocol/server';
import type { Context as HonoContext } from 'hono';
import type { Scope } from '../context.ts';
import type { HttpEnvironment } from '../http/environment.ts';
import { basePath } from '../http/public-url.ts';
import type { OpenApiDocument } from './operations.ts';
import { createServer, prepareTools, type PreparedTool } from './server.ts';
import type { ToolRequestContext } from './tool-request.ts';

/** Bytes; the operations' own limit for a JSON body is 1 MiB. */
const maxMessageBytes = 2 * 1024 * 1024;

/** What of the API the tools are made from, and how its operations are called. */
export interface ServedApi {
  document(): Promise<OpenApiDocument>;
  dispatch(request: Request, c: HonoContext<HttpEnvironment>): Promise<Response>;
}

const toolsOf = new WeakMap<ServedApi, Map<string, PreparedTool>>();

/** Answers one message of an assistant whose key has these scopes. */
export async function serveMessage(
  api: ServedApi,
  c: HonoContext<HttpEnvironment>,
  scopes: Scope[],
  requestContext: ToolRequestContext,
): Promise<Response> {
  const tools = toolsOf.get(api) ?? prepareTools(await api.document(), basePath);
  toolsOf.set(api, tools);
  const handler = createMcpHandler(() => createServer(tools, scopes, requestContext, (request) => api.dispatch(request, c)), {
    maxRequestBodySize: maxMessageBytes,
    onerror: (error) => c.var.log.warn('an MCP message was refused', { reason: error.message }),
  });
  return handler.fetch(c.req.raw);
}
