import type { ChatStreamEvent } from '../../src/calls/text-chat/contract.ts';

const encoder = new TextEncoder();

/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) for whoever reads the stream; once nobody does, for nobody. */
export function createEventStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const stream = new ReadableStream<Uint8Array>({
    start(opened) {
      controller = opened;
    },
    cancel() {
      controller = null;
    },
  });
  return {
    stream,
    tell({ event, data }: ChatStreamEvent): void {
      controller?.enqueue(encoder.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    },
    close(): void {
      controller?.close();
      controller = null;
    },
  };
}
