import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LocalError, projectDirectory } from '../local/settings.ts';
import { Cloudflare } from './cloudflare.ts';
import type { DeployOptions } from './arguments.ts';
import type { Plan } from './plan.ts';

/** Runs a wrangler command to its end and answers its output; a failed one is a `LocalError` with what it printed. */
export type RunWrangler = (parameters: string[], environment?: Record<string, string>) => Promise<string>;

/** What the steps of one deployment share: ways outside, the plan, and what earlier steps have found out. */
export interface DeploymentContext {
  options: DeployOptions;
  plan: Plan;
  files: DeploymentFiles;
  environment: Record<string, string | undefined>;
  wrangler: RunWrangler;
  build: () => Promise<unknown>;
  send: typeof fetch;
  say: (line: string) => void;
  /** How long the new deployment is waited for, in milliseconds. */
  smokeTestTimeoutMs: number;
  cloudflare: Cloudflare;
  /** `/accounts/{id}`. */
  account: string;
  /** Ids of the databases by their binding. */
  databaseIds: Map<string, string>;
  /** Origin under which the deployment answers. */
  address: string;
}

/** The files of one deployment in `.deploy/`, which is never committed; each is readable by its owner only. */
export class DeploymentFiles {
  readonly directory: string;
  readonly #environment: string;

  constructor(directory: string, environment: string) {
    this.directory = directory;
    this.#environment = environment;
  }

  /** `''` is the configuration for wrangler. */
  path(kind: '' | 'secrets' | 'new-secrets' | 'credentials'): string {
    return join(this.directory, `${this.#environment}${kind && `.${kind}`}.json`);
  }

  /** The same as a person in the repository types it. */
  shown(kind: '' | 'secrets' | 'new-secrets' | 'credentials'): string {
    return relative(projectDirectory, this.path(kind));
  }

  read<T>(kind: '' | 'secrets' | 'credentials'): T | undefined {
    try {
      return JSON.parse(readFileSync(this.path(kind), 'utf8')) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new LocalError(`${this.path(kind)} cannot be read (${(error as Error).message}). Mend it or move it away.`);
    }
  }

  write(kind: '' | 'secrets' | 'new-secrets' | 'credentials', content: unknown): void {
    mkdirSync(this.directory, { recursive: true });
    writeFileSync(this.path(kind), `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  }
}
