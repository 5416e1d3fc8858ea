import { DurableObject } from 'cloudflare:workers';
import { Hono } from 'hono';
import { parametersOf, type CallRecipe, type Row, type Values } from '../recipe.ts';

// What each case costs at least on this runtime: the statements that the service was recorded to make, from bare Hono routes.

interface Bindings {
  DB: D1Database;
  QUEUE: Queue<Message>;
  RUN: DurableObjectNamespace<FloorRunObject>;
}

interface Message {
  recipe: string;
  record: Values;
}

/** `request` is played by the route, `queue` by the consumer, `object` by a run's object. */
export interface Recipe {
  request: CallRecipe[];
  queue: CallRecipe[];
  object: CallRecipe[];
}

const recipes = new Map<string, Recipe>();
const counts = { calls: 0, rowsRead: 0, rowsWritten: 0 };

/** Makes the calls one after the other; answers the rows of each statement. */
async function play(database: D1Database, calls: CallRecipe[], values: Values, records: Values[] = []): Promise<Row[][]> {
  const rows: Row[][] = [];
  for (const { isBatch, statements } of calls) {
    const prepared = statements.map(({ sql, parameters }) => database.prepare(sql).bind(...parametersOf(parameters, values, records)));
    const results = isBatch ? await database.batch<Row>(prepared) : [await prepared[0]!.all<Row>()];
    counts.calls++;
    for (const { results: found, meta } of results) {
      counts.rowsRead += meta.rows_read;
      counts.rowsWritten += meta.rows_written;
      rows.push(found);
    }
  }
  return rows;
}

const recipeNamed = (name: string): Recipe => {
  const recipe = recipes.get(name);
  if (!recipe) throw new Error(`The floor was given no recipe "${name}"`);
  return recipe;
};

const app = new Hono<{ Bindings: Bindings }>();

app.put('/recipes/:name', async (c) => {
  recipes.set(c.req.param('name'), await c.req.json<Recipe>());
  return c.body(null, 204);
});

app.get('/counts', (c) => {
  const counted = { ...counts };
  Object.assign(counts, { calls: 0, rowsRead: 0, rowsWritten: 0 });
  return c.json(counted);
});

app.get('/health', (c) => c.json({ status: 'ok' }));

app.post('/events/:recipe', async (c) => {
  const name = c.req.param('recipe');
  const { request, queue } = recipeNamed(name);
  const body = await c.req.json<{ phone: string; data: unknown }>();
  const rows = await play(c.env.DB, request, { now: Date.now(), phone: body.phone, data: JSON.stringify(body.data) });
  const { id, contact_id } = rows.flat().find((row) => 'contact_id' in row) as { id: number; contact_id: number };
  if (queue.length) c.executionCtx.waitUntil(c.env.QUEUE.send({ recipe: name, record: { event_id: id, contact_id } }));
  return c.json({ event_id: id, contact_id, triggered_workflows: 0 }, 201);
});

app.post('/webhooks/:recipe', async (c) => {
  const name = c.req.param('recipe');
  await c.req.json();
  const delivery_key = c.req.header('x-delivery-id')!;
  const rows = await play(c.env.DB, recipeNamed(name).request, { now: Date.now(), delivery_key });
  const { id } = rows.flat()[0] as { id: number };
  c.executionCtx.waitUntil(c.env.QUEUE.send({ recipe: name, record: { delivery_id: id } }));
  return c.json({ status: 'accepted', delivery_id: delivery_key, duplicate: false }, 202);
});

app.get('/contacts/:recipe', async (c) => {
  const rows = await play(c.env.DB, recipeNamed(c.req.param('recipe')).request, { now: Date.now() });
  return c.json({ contacts: rows });
});

app.post('/contacts/bulk-upsert', async (c) => {
  const { calls } = await c.req.json<{ calls: CallRecipe[] }>();
  return c.json({ contacts: await play(c.env.DB, calls, { now: Date.now() }) });
});

/** One run: its own rows, then its row in D1. */
export class FloorRunObject extends DurableObject<Bindings> {
  async run(recipe: string, runId: number): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE run (id INTEGER PRIMARY KEY, progress TEXT NOT NULL, revision INTEGER NOT NULL)');
    sql.exec('CREATE TABLE history (id INTEGER PRIMARY KEY, node_id TEXT NOT NULL, status TEXT NOT NULL, entry TEXT NOT NULL)');
    const progress = JSON.stringify({ state: 'running' });
    sql.exec('INSERT INTO run (id, progress, revision) VALUES (?, ?, 1)', runId, progress);
    for (const node of ['in', 'big', 'set', 'out']) {
      sql.exec("INSERT INTO history (node_id, status, entry) VALUES (?, 'completed', ?)", node, progress);
      sql.exec('UPDATE run SET progress = ?, revision = revision + 1', progress);
    }
    await play(this.env.DB, recipeNamed(recipe).object, { now: Date.now(), run_id: runId });
  }
}

export default {
  fetch: app.fetch,
  async queue(batch, bindings) {
    for (const [name, messages] of Map.groupBy(batch.messages, ({ body }) => body.recipe)) {
      const records = messages.map(({ body }) => body.record);
      for (const call of recipeNamed(name).queue) {
        const rows = await play(bindings.DB, [call], { now: Date.now() }, records);
        const runs = rows.flat().filter((row) => 'dedup_key' in row) as { id: number }[];
        await Promise.all(runs.map(({ id }) => bindings.RUN.getByName(String(id)).run(name, id)));
      }
    }
    batch.ackAll();
  },
} satisfies ExportedHandler<Bindings, Message>;
