export interface PeekedStream {
  /** At least as many bytes as were asked for, unless the stream is shorter. */
  beginning: Uint8Array;
  /** All bytes, the beginning included. Can be read once. */
  bytes: AsyncIterable<Uint8Array>;
  /** Releases the stream when its bytes are not read to their end. */
  close(): Promise<void>;
}

/** Reads the beginning of a stream that is read as a whole afterwards. */
export async function peekStream(stream: ReadableStream<Uint8Array>, length: number): Promise<PeekedStream> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  for (let read = 0; read < length;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    read += value.length;
  }
  const close = () => reader.cancel();
  return { beginning: new Uint8Array(Buffer.concat(chunks)), bytes: readFrom(chunks, reader), close };
}

async function* readFrom(chunks: Uint8Array[], reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel();
  }
}
