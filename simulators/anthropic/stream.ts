import type { SimulatedMessage } from './messages.ts';

const charactersPerFragment = 7;

/** The message as server-sent events; `breaksOff`: after the first word the vendor is overloaded. */
export function streamMessage(message: SimulatedMessage, { breaksOff }: { breaksOff: boolean }): Response {
  const encoder = new TextEncoder();
  const pending = eventsOf(message, breaksOff);
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = pending.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } });
}

type StreamEvent = { type: string } & Record<string, unknown>;

function* eventsOf({ id, model, content, stopReason, usage }: SimulatedMessage, breaksOff: boolean): Generator<StreamEvent> {
  const cached = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const shell = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
  yield { type: 'message_start', message: { ...shell, usage: { ...cached, input_tokens: usage.input_tokens, output_tokens: 1 } } };
  yield {
    type: 'content_block_start',
    index: 0,
    content_block: content.type === 'text' ? { type: 'text', text: '' } : { ...content, input: {} },
  };
  yield { type: 'ping' };
  for (const delta of deltasOf(content)) {
    yield { type: 'content_block_delta', index: 0, delta };
    if (breaksOff) return yield { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  }
  yield { type: 'content_block_stop', index: 0 };
  yield { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage: { ...cached, ...usage } };
  yield { type: 'message_stop' };
}

function deltasOf(content: SimulatedMessage['content']): object[] {
  if (content.type === 'text') return (content.text.match(/\s*\S+|\s+$/g) ?? []).map((text) => ({ type: 'text_delta', text }));
  const characters = [...JSON.stringify(content.input)];
  const fragments = Array.from({ length: Math.ceil(characters.length / charactersPerFragment) }, (_, index) =>
    characters.slice(index * charactersPerFragment, (index + 1) * charactersPerFragment).join(''),
  );
  return ['', ...fragments].map((json) => ({ type: 'input_json_delta', partial_json: json }));
}
