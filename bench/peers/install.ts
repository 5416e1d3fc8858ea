import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { projectDirectory } from '../../scripts/local/settings.ts';

const run = promisify(execFile);

export type PeerName = 'n8n' | 'hnswlib-node' | 'sqlite-vec';

const peers = join(projectDirectory, 'bench', 'peers');

/** Where a peer is installed: apart from the service's own packages, and in a hidden folder, through which the project's checks do not go. */
export const peerDirectory = (name: PeerName): string => join(peers, '.installed', name);

const marker = (name: PeerName) => join(peerDirectory(name), 'node_modules', '.installed-lock.json');

/**
 * Installs a peer by its lock file, unless that is done. Native parts are compiled for the Node that runs this, with the headers beside it. Throws
 * what keeps it from being installed.
 */
export async function installPeer(name: PeerName): Promise<void> {
  if (existsSync(marker(name))) return;
  const directory = peerDirectory(name);
  mkdirSync(directory, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(peers, name, file), join(directory, file));
  const environment = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  const headers = dirname(dirname(process.execPath));
  await run('npm', ['ci', '--prefix', directory, '--no-audit', '--no-fund', '--loglevel=error'], {
    env: existsSync(join(headers, 'include', 'node')) ? { ...environment, npm_config_nodedir: headers } : environment,
    maxBuffer: 16 * 1024 * 1024,
    timeout: 15 * 60_000,
  });
  cpSync(join(directory, 'package-lock.json'), marker(name));
}
