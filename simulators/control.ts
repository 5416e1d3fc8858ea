import { Hono } from 'hono';
import { z } from 'zod';
import { FaultSchema } from './faults.ts';
import type { FaultPlan } from './faults.ts';
import type { Ledger } from './ledger.ts';
import { matchesPath } from './path-pattern.ts';
import { showRequest } from './request-record.ts';
import type { RequestRecord } from './request-record.ts';

export interface Control {
  providers: string[];
  faults: FaultPlan;
  requests: Ledger<RequestRecord>;
  /** Replaces a vendor, or all vendors, by new ones. */
  restart: (provider?: string) => void;
  /** Hands a request to a vendor's own `/__sim` path. */
  steer: (provider: string, path: string, request: Request) => Response | Promise<Response>;
}

/** `/__sim`: tests and people control the simulators here. `?provider=` narrows a reset or a listing to one vendor, `?path=` a listing to a path pattern. */
export function controlRoutes({ providers, faults, requests, restart, steer }: Control): Hono {
  const unknownProvider = (provider: string | undefined) =>
    provider === undefined || providers.includes(provider)
      ? undefined
      : { error: `No simulator is called "${provider}". There are: ${providers.join(', ')}` };

  return new Hono()
    .get('/health', (c) => c.json({ status: 'ok', providers }))
    .post('/faults', async (c) => {
      const fault = FaultSchema.safeParse(await c.req.json().catch(() => undefined));
      if (!fault.success) return c.json({ error: z.prettifyError(fault.error) }, 422);
      const problem = unknownProvider(fault.data.provider);
      if (problem) return c.json(problem, 422);
      faults.add(fault.data);
      return c.json(fault.data, 201);
    })
    .post('/reset', (c) => {
      const provider = c.req.query('provider');
      const problem = unknownProvider(provider);
      if (problem) return c.json(problem, 422);
      faults.forget(provider);
      requests.forget((record) => provider === undefined || record.provider === provider);
      restart(provider);
      return c.json({ status: 'reset' });
    })
    .post('/emit', async (c) => {
      const body: unknown = await c.req.raw
        .clone()
        .json()
        .catch(() => undefined);
      const provider = z.object({ provider: z.string() }).safeParse(body).data?.provider;
      if (provider === undefined) return c.json({ error: 'Name the provider whose callback is to be sent again' }, 422);
      const problem = unknownProvider(provider);
      return problem ? c.json(problem, 422) : steer(provider, '/__sim/emit', c.req.raw);
    })
    .get('/requests', (c) => {
      const { provider, path } = c.req.query();
      const problem = unknownProvider(provider);
      if (problem) return c.json(problem, 422);
      const found = requests
        .list()
        .filter(
          (record) => (provider === undefined || record.provider === provider) && (path === undefined || matchesPath(path, record.path)),
        );
      return c.json({ requests: found.map(showRequest), total: found.length });
    });
}
