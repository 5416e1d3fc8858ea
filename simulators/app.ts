import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import type { Context } from 'hono';
import { controlRoutes } from './control.ts';
import { faultAnswer, FaultPlan } from './faults.ts';
import { Ledger } from './ledger.ts';
import { describeRequest } from './request-record.ts';
import type { RequestRecord } from './request-record.ts';
import type { Vendor } from './vendor.ts';
import { vendors as everyVendor } from './vendors.ts';

export interface SimulatorOptions {
  /** Where received requests are kept across restarts; in memory only without it. */
  ledgerFile?: string | undefined;
  vendors?: Vendor[];
  /** Stops all work of the vendors. */
  signal?: AbortSignal;
}

type SimulatorContext = Context<{ Bindings: HttpBindings }>;

/** All simulated vendors as one Hono application for Node: each under its name, and `/__sim` to control them. */
export function createSimulators({ ledgerFile, vendors = everyVendor, signal }: SimulatorOptions = {}): Hono<{ Bindings: HttpBindings }> {
  const requests = new Ledger<RequestRecord>(ledgerFile);
  const faults = new FaultPlan();
  const worlds = new Map<string, AbortController>();
  const ledgerOf = (name: string) => ledgerFile && join(dirname(ledgerFile), `${name}.jsonl`);
  const create = (vendor: Vendor) => {
    const ending = new AbortController();
    worlds.set(vendor.name, ending);
    const lasting = signal ? AbortSignal.any([signal, ending.signal]) : ending.signal;
    return vendor.createRoutes({
      ledgerFile: ledgerOf(vendor.name),
      signal: lasting,
      ask: (provider, request) => ask(provider, new URL(request.url), request),
    });
  };
  const routes = new Map(vendors.map((vendor) => [vendor.name, create(vendor)]));
  const providers = [...routes.keys()];
  const restart = (provider?: string) => {
    for (const vendor of vendors) {
      if (provider !== undefined && vendor.name !== provider) continue;
      worlds.get(vendor.name)!.abort();
      const file = ledgerOf(vendor.name);
      if (file !== undefined) rmSync(file, { force: true });
      routes.set(vendor.name, create(vendor));
    }
  };
  const steer = (provider: string, path: string, request: Request) => {
    const url = new URL(request.url);
    url.pathname = path;
    return routes.get(provider)!.fetch(new Request(url, request));
  };

  /**
   * Records the request before anything else, then lets the planned fault or the vendor answer it; undefined: the answer is lost. `url` is
   * without the mount.
   */
  async function ask(provider: string, url: URL, request: Request): Promise<Response | undefined> {
    const body = await request.arrayBuffer();
    const fault = faults.take(provider, request.method, url.pathname);
    const record = requests.append({ ...describeRequest(request, provider, url.pathname, body), is_faulted: fault !== undefined });

    if (fault?.delay_ms !== undefined) await sleep(fault.delay_ms);
    const { method, headers } = request;
    const forwarded = new Request(url, { method, headers, body: body.byteLength > 0 ? body : null });
    let isDropped = fault?.drop_response === true;
    const dropAnswer = () => void (isDropped = true);
    const answer = (fault && faultAnswer(fault)) ?? (await routes.get(provider)!.fetch(forwarded, { record, dropAnswer }));
    if (isDropped) return undefined;
    if (fault?.headers === undefined) return answer;
    const changed = new Headers(answer.headers);
    for (const [name, value] of Object.entries(fault.headers)) changed.set(name, value);
    return new Response(answer.body, { status: answer.status, headers: changed });
  }

  async function serve(c: SimulatorContext, provider: string): Promise<Response> {
    const url = new URL(c.req.url);
    url.pathname = url.pathname.slice(provider.length + 1) || '/';
    return (await ask(provider, url, c.req.raw)) ?? cutConnection(c);
  }

  const app = new Hono<{ Bindings: HttpBindings }>();
  app.route('/__sim', controlRoutes({ providers, faults, requests, restart, steer }));
  for (const provider of providers) {
    app.all(`/${provider}/__sim/*`, (c) => steer(provider, c.req.path.slice(provider.length + 1), c.req.raw));
    app.all(`/${provider}/*`, (c) => serve(c, provider));
  }
  app.notFound((c) =>
    c.json({ error: `Nothing is simulated at ${c.req.path}. There are: ${providers.map((name) => `/${name}`).join(', ')}` }, 404),
  );
  app.onError((error, c) => {
    console.error(`The simulator failed at ${c.req.method} ${c.req.path}:`, error);
    return c.json({ error: `The simulator itself failed: ${error.message}` }, 500);
  });
  return app;
}

function cutConnection(c: SimulatorContext): Response {
  c.env.outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}
