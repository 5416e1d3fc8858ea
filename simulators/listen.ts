import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { createSimulators } from './app.ts';
import type { SimulatorOptions } from './app.ts';

export interface RunningSimulators {
  url: string;
  close: () => Promise<void>;
  /** Lets the process end although they listen. */
  unref: () => void;
}

/** Serves the simulators on loopback; port 0 takes any free one. Rejects with the system's error when the port cannot be had. */
export async function listen({ port, ...options }: SimulatorOptions & { port: number }): Promise<RunningSimulators> {
  const ending = new AbortController();
  const server = createAdaptorServer({ fetch: createSimulators({ ...options, signal: ending.signal }).fetch }) as Server;
  // A kept connection must not end while a request is on its way, which would look like a lost answer.
  server.keepAliveTimeout = 10 * 60_000;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unref: () => {
      server.unref();
      server.on('connection', (socket) => socket.unref());
    },
    close: async () => {
      ending.abort();
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
