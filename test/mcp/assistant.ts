import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { exports } from 'cloudflare:workers';
import { expect } from 'vitest';

type Send = (request: Request) => Promise<Response>;

export const mcpUrl = 'https://service.test/mcp';

/** The official client, connected with an API key; `send` may be another way into the service. */
export async function assistantWith(key: string, send: Send = (request) => exports.default.fetch(request)) {
  const client = new McpClient({ name: 'assistant', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(mcpUrl), {
    fetch: (url, init) => send(new Request(url, init as RequestInit)),
    requestInit: { headers: { Authorization: `Bearer ${key}` } },
  });
  await client.connect(transport);
  return {
    client,
    /** What a tool answers, which must be good. */
    async use(name: string, given: Record<string, unknown> = {}): Promise<any> {
      const result = await client.callTool({ name, arguments: given });
      expect(result.isError ?? false, JSON.stringify(result.content)).toBe(false);
      return result.structuredContent ?? textOf(result);
    },
    /** The reason why a tool refuses. */
    async refused(name: string, given: Record<string, unknown> = {}): Promise<string> {
      const result = await client.callTool({ name, arguments: given });
      expect(result.isError, JSON.stringify(result.content)).toBe(true);
      return textOf(result);
    },
  };
}

const textOf = (result: { content: unknown }): string => (result.content as { text: string }[])[0]!.text;

/** One message, posted by hand. */
export const postMessage = (body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  exports.default.fetch(
    new Request(mcpUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    }),
  );
