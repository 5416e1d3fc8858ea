import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';
import { requireFreePort } from '../../scripts/local/ports.ts';

async function serveOn(hostname: string, answer = ''): Promise<number> {
  const server = createServer((_request, response) => response.end(answer)).listen(0, hostname);
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

test('a free port is taken without a word, and is still free afterwards', async () => {
  const { url, close } = await listen({ port: 0 });
  await close();
  const port = Number(new URL(url).port);
  await requireFreePort(port, 'PORT');
  await requireFreePort(port, 'PORT');
});

test.each(['127.0.0.1', '0.0.0.0'])('a port taken on %s is an error that names it and the variable to set', async (hostname) => {
  const port = await serveOn(hostname);
  await expect(requireFreePort(port, 'SIM_PORT')).rejects.toThrow(
    new RegExp(`^Port ${port} is already in use.*set SIM_PORT to a free port\\.$`),
  );
});

test('another copy of the service, or its simulators, is recognised as what holds the port', async () => {
  const service = await serveOn('127.0.0.1', JSON.stringify({ status: 'ok', deployment_mode: 'local' }));
  await expect(requireFreePort(service, 'PORT')).rejects.toThrow('another copy of this service');
  const simulators = await listen({ port: 0 });
  onTestFinished(simulators.close);
  await expect(requireFreePort(Number(new URL(simulators.url).port), 'SIM_PORT')).rejects.toThrow(
    'the simulators of another copy of this service',
  );
});
