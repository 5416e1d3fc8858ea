import type { CallToolResult } from '@modelcontextprotocol/server';

/** The maximum of characters in a result, since an assistant's memory is limited. */
export const maxResultLength = 100_000;

/** The result of a tool from the operation's response: JSON also as an object, and a refusal as an error that the assistant can act on. */
export async function toToolResult(response: Response): Promise<CallToolResult> {
  const text = await response.text();
  if (!response.ok) return errorResult(`${response.status}: ${text}`);
  const isJson = response.headers.get('Content-Type')?.includes('json') ?? false;
  if (text.length > maxResultLength) return { content: [{ type: 'text', text: truncate(text, isJson) }] };
  const value: unknown = isJson ? JSON.parse(text) : undefined;
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { content: [{ type: 'text', text }], ...(isObject ? { structuredContent: value as Record<string, unknown> } : {}) };
}

export const errorResult = (text: string): CallToolResult => ({ isError: true, content: [{ type: 'text', text }] });

const truncate = (text: string, isJson: boolean): string =>
  `${text.slice(0, maxResultLength)}\n[cut: the answer has ${text.length} characters. ${
    isJson ? 'Ask for fewer at a time with limit, and go on with cursor.' : 'The rest is in the API itself.'
  }]`;
