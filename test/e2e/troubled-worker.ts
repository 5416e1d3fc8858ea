import type { DurableObject } from 'cloudflare:workers';
import * as sound from '../../src/worker.ts';

/** The service on a D1 that refuses some of its calls, and does others without its answer coming back. `POST /__trouble` sets how often. */
const trouble = { refuse: 0, lose: 0, calls: 0, refused: 0, lost: 0 };

const refusals = [
  'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
  'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
];

async function through<T>(call: () => Promise<T>): Promise<T> {
  trouble.calls += 1;
  if (Math.random() < trouble.refuse) throw new Error(refusals[trouble.refused++ % refusals.length]);
  const answer = await call();
  if (Math.random() < trouble.lose) {
    trouble.lost += 1;
    throw new Error('D1_ERROR: Network connection lost.');
  }
  return answer;
}

const realOf = new WeakMap<object, D1PreparedStatement>();

function troubledStatement(real: D1PreparedStatement): D1PreparedStatement {
  const own = {
    bind: (...values: unknown[]) => troubledStatement(real.bind(...values)),
    all: () => through(() => real.all()),
    raw: () => through(() => real.raw()),
    run: () => through(() => real.run()),
    first: () => through(() => real.first()),
  } as unknown as D1PreparedStatement;
  realOf.set(own, real);
  return own;
}

const troubledDatabase = (real: D1Database): D1Database =>
  ({
    prepare: (sql: string) => troubledStatement(real.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) => through(() => real.batch(statements.map((one) => realOf.get(one)!))),
  }) as unknown as D1Database;

const environments = new WeakMap<Env, Env>();

/** The same object for the same bindings, since the service caches by their identity. */
function troubled(bindings: Env): Env {
  let own = environments.get(bindings);
  if (!own) environments.set(bindings, (own = { ...bindings, DB: troubledDatabase(bindings.DB) }));
  return own;
}

/** A class of objects whose database is in trouble. */
function onTrouble<Class extends new (...given: any[]) => DurableObject<Env>>(soundClass: Class) {
  return class extends soundClass {
    constructor(...given: any[]) {
      const [state, bindings] = given as [DurableObjectState, Env];
      super(state, troubled(bindings));
    }
  };
}

export const AutomationRunObject = onTrouble(sound.AutomationRunObject);
export const CallObject = onTrouble(sound.CallObject);
export const CallSlotsObject = onTrouble(sound.CallSlotsObject);
export const LoadTestObject = onTrouble(sound.LoadTestObject);
export const TestSessionObject = onTrouble(sound.TestSessionObject);
export const VectorIndexObject = onTrouble(sound.VectorIndexObject);
export const CampaignObject = onTrouble(sound.CampaignObject);
export const WebhookEndpointObject = onTrouble(sound.WebhookEndpointObject);

const worker = sound.default;

export default {
  async fetch(request, bindings, execution) {
    if (new URL(request.url).pathname !== '/__trouble') return worker.fetch(request, troubled(bindings), execution);
    Object.assign(trouble, await request.json());
    return Response.json(trouble);
  },
  queue: (batch, bindings, execution) => worker.queue(batch, troubled(bindings), execution),
  scheduled: (controller, bindings, execution) => worker.scheduled(controller, troubled(bindings), execution),
} satisfies ExportedHandler<Env>;
