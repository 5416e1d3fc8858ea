import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { findPortHolder } from './port-holder.ts';
import { LocalError } from './settings.ts';

/** Throws a `LocalError` naming the port, what holds it and the variable to set, unless a server on loopback can have the port. */
export async function requireFreePort(port: number, variable: string): Promise<void> {
  const problem = await portProblem(port);
  if (problem === undefined) return;
  if (problem === 'EACCES')
    throw new LocalError(`Port ${port} needs privileges that this user does not have. Set ${variable} to a port above 1023.`);
  if (problem !== 'EADDRINUSE') throw new LocalError(`Port ${port} cannot be used (${problem}). Set ${variable} to another port.`);
  const holder = await findPortHolder(port);
  throw new LocalError(
    `Port ${port} is already in use${holder ? ` by ${holder}` : ''}. Stop what uses it, or set ${variable} to a free port.`,
  );
}

async function portProblem(port: number): Promise<string | undefined> {
  // Some systems let loopback be bound beside a server on all addresses, which then never gets a request: ask first.
  if (await isAnswering(port)) return 'EADDRINUSE';
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
    await once(server, 'close');
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

async function isAnswering(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 });
  try {
    await Promise.race([once(socket, 'connect'), once(socket, 'timeout').then(() => Promise.reject(new Error('timeout')))]);
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
