import { setTimeout as sleep } from 'node:timers/promises';

/** As much of a V8 CPU profile as is read here. Times in microseconds. */
export interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

/** A debugger's connection to one isolate, for its CPU profile and its memory. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (message: { result?: object; error?: object }) => void>();
  #sent = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as { id?: number; result?: object; error?: object };
      if (message.id !== undefined) this.#waiting.get(message.id)?.(message);
    });
    // An isolate that runs out of memory ends without an answer.
    socket.addEventListener('close', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'the isolate has ended' } });
      this.#waiting.clear();
    });
  }

  static async attach(inspector: URL, isolate: string): Promise<Inspector> {
    const socket = new WebSocket(`ws://${inspector.host}/${isolate}`);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error(`The debugger's port does not know ${isolate}`)), { once: true });
    });
    return new Inspector(socket);
  }

  async startProfile(): Promise<void> {
    await this.#command('Profiler.enable');
    await this.#command('Profiler.setSamplingInterval', { interval: 200 });
    await this.#command('Profiler.start');
  }

  async stopProfile(): Promise<Profile> {
    return ((await this.#command('Profiler.stop')) as { profile: Profile }).profile;
  }

  /**
   * Bytes of what is in use after a collection: objects, and the buffers that they hold outside the heap. workerd collects while the isolate
   * has something to do, for which `wake` makes requests of it.
   */
  async usedBytes(wake: () => Promise<unknown>): Promise<number> {
    const collected = this.#command('HeapProfiler.collectGarbage').then(() => true);
    while (!(await Promise.race([collected, wake().then(() => sleep(10, false))])));
    return this.heldBytes();
  }

  /** Bytes in use, garbage included. The isolate answers while it waits for something. */
  async heldBytes(): Promise<number> {
    const { usedSize, backingStorageSize } = (await this.#command('Runtime.getHeapUsage')) as Record<string, number>;
    return usedSize! + backingStorageSize!;
  }

  close(): void {
    this.#socket.close();
  }

  #command(method: string, parameters = {}): Promise<object> {
    const id = ++this.#sent;
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) return reject(new Error(`${method}: the isolate has ended`));
      this.#waiting.set(id, ({ result = {}, error }) =>
        error ? reject(new Error(`${method}: ${JSON.stringify(error)}`)) : resolve(result),
      );
      this.#socket.send(JSON.stringify({ id, method, params: parameters }));
    });
  }
}
