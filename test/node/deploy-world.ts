import { buildWorker } from '../../scripts/build/build-worker.ts';
import { parseDeployArguments, type DeployOptions } from '../../scripts/deploy/arguments.ts';
import { deploy } from '../../scripts/deploy/deploy.ts';
import { runWrangler } from '../../scripts/local/wrangler.ts';
import { CloudflareFake } from './cloudflare-fake.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A deployed service as the smoke test sees it. */
function answerAsService(path: string, method: string, deployment: string): unknown {
  if (path === '/api/v1/health') return { status: 'ok', version: '0.1.0' };
  if (path === '/api/v1/contacts/upsert') return { contact: { id: 1 } };
  if (path === '/api/v1/automation-workflows') return method === 'GET' ? { automation_workflows: [] } : { id: 1 };
  if (path === '/api/v1/automation-workflows/1') return { id: 1, status: 'active' };
  if (path === '/api/v1/events') return { event_id: 1, contact_id: 1, triggered_workflows: 0 };
  return { runs: [{ state: 'completed', context: { deployment } }] };
}

/** A machine from which the real wrangler deploys to the fake of Cloudflare. */
export class Deployer {
  readonly fake = new CloudflareFake();
  readonly directory = temporaryDirectory();
  environment: Record<string, string> = {};
  said: string[] = [];
  asked: { url: string; headers: Headers; body: string }[] = [];
  build: () => Promise<unknown> = () => buildWorker();
  /** Ran instead of wrangler where it answers something. */
  instead: (parameters: string[]) => Promise<string> | undefined = () => undefined;

  static async create(): Promise<Deployer> {
    const deployer = new Deployer();
    await deployer.fake.listen();
    deployer.environment = { CLOUDFLARE_API_TOKEN: deployer.fake.token, CLOUDFLARE_API_BASE_URL: deployer.fake.url };
    return deployer;
  }

  /** What the event said that the smoke test posted last. */
  #deployment(): string {
    const event = this.asked.findLast(({ url }) => url.endsWith('/events'));
    return event === undefined ? '' : JSON.parse(event.body).data.deployment;
  }

  async run(...parameters: string[]): Promise<string> {
    this.said = [];
    const options = parseDeployArguments(parameters) as DeployOptions;
    await deploy(options, {
      directory: this.directory,
      build: () => this.build(),
      environment: this.environment,
      say: (line) => this.said.push(line),
      smokeTestTimeoutMs: 1_000,
      send: (async (url: string, init: RequestInit) => {
        if (url.startsWith(this.fake.url)) return fetch(url, init);
        this.asked.push({ url, headers: new Headers(init.headers), body: String(init.body ?? '') });
        return Response.json(answerAsService(new URL(url).pathname, init.method ?? 'GET', this.#deployment()));
      }) as typeof fetch,
      wrangler: (given, more) => this.instead(given) ?? runWrangler(given, this.directory, undefined, { ...this.environment, ...more }),
    });
    return this.said.join('\n');
  }
}
