/** One server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface ServerSentEvent {
  event: string;
  data: string;
}

/**
 * The events of a stream in their order. Comments and unknown fields are skipped, an event without an empty line after it is incomplete and
 * dropped. The time is linear in the length of the stream. When `signal` is aborted, the stream is let go, and the events end.
 */
export async function* readEvents(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<ServerSentEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(stream, signal)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
}

/** The lines of a stream, which end with LF, CR LF or CR. */
async function* readLines(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  if (signal.aborted) cancel();
  else signal.addEventListener('abort', cancel, { once: true });
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let endsWithCarriageReturn = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      // An LF that follows the CR of the chunk before ends the same line.
      const lines = (endsWithCarriageReturn && text.startsWith('\n') ? text.slice(1) : text).split(/\r\n|\n|\r/);
      if (text !== '') endsWithCarriageReturn = text.endsWith('\r');
      for (const [index, line] of lines.entries()) {
        parts.push(line);
        if (index === lines.length - 1) break;
        yield parts.join('');
        parts = [];
      }
      if (done) return;
    }
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}
