import { usageDetails, type Completion } from './completion.ts';

export interface StreamOptions {
  include_usage?: boolean | undefined;
  include_obfuscation?: boolean | undefined;
}

const charactersPerFragment = 7;

/** The completion as server-sent events: words of the content, or fragments of the arguments that are no JSON each. */
export function streamCompletion(completion: Completion, options: StreamOptions): Response {
  const events = [...chunksOf(completion, options)].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  const encoder = new TextEncoder();
  const pending = [...events, 'data: [DONE]\n\n'][Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = pending.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } });
}

function* chunksOf({ id, created, model, message, finishReason, usage }: Completion, options: StreamOptions): Generator<object> {
  const shared = { id, object: 'chat.completion.chunk', created, model, service_tier: 'default', system_fingerprint: null };
  const chunk = (delta: object, finish: string | null = null) => ({
    ...shared,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...(options.include_usage ? { usage: null } : {}),
    ...(options.include_obfuscation === false ? {} : { obfuscation: 'x'.repeat(12 - (JSON.stringify(delta).length % 12)) }),
  });
  const { content, toolCall } = message;
  if (toolCall) {
    const call = { index: 0, id: toolCall.id, type: 'function', function: { name: toolCall.name, arguments: '' } };
    yield chunk({ role: 'assistant', content: null, tool_calls: [call], refusal: null });
    for (const fragment of fragmentsOf(toolCall.arguments)) yield chunk({ tool_calls: [{ index: 0, function: { arguments: fragment } }] });
  } else {
    yield chunk({ role: 'assistant', content: '', refusal: null });
    for (const word of (content ?? '').match(/\s*\S+|\s+$/g) ?? []) yield chunk({ content: word });
  }
  yield chunk({}, finishReason);
  if (options.include_usage) yield { ...shared, choices: [], usage: usageDetails(usage) };
}

function fragmentsOf(text: string): string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / charactersPerFragment) }, (_, index) =>
    characters.slice(index * charactersPerFragment, (index + 1) * charactersPerFragment).join(''),
  );
}
