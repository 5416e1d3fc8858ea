import { Hono } from 'hono';
import type { CallRecipe, Row, Values } from '../recipe.ts';
import { getRecipe, recipes, type Bindings, type Message, type Recipe } from './floor-recipes.ts';
import { callRoutes } from './floor-calls.ts';
import { knowledgeRoutes } from './floor-knowledge.ts';
import { testRoutes } from './floor-tests.ts';
import { counts, replay } from './replay.ts';

export { FloorCallStatesObject, FloorRowsObject, FloorTalkObject } from './floor-call-objects.ts';
export { FloorRunObject } from './floor-object.ts';
export { FloorTestObject } from './floor-tests.ts';

// The least that each case costs on this runtime: bare Hono routes make the D1 statements that were recorded of the service.

const parallelObjects = 25;

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

app.route('/', callRoutes);
app.route('/', testRoutes);
app.route('/', knowledgeRoutes);

app.get('/health', (c) => c.json({ status: 'ok' }));

app.post('/events/:recipe', async (c) => {
  const name = c.req.param('recipe');
  const { request, queue } = getRecipe(name);
  const { phone, data } = await c.req.json<{ phone: string; data: { customer?: string } }>();
  const values: Values = { now: Date.now(), phone, data: JSON.stringify(data), customer: data.customer ?? null };
  const rows = await replay(c.env.DB, request, values, [values]);
  const { id, contact_id } = rows.flat().find((row) => 'contact_id' in row) as { id: number; contact_id: number };
  const record = { ...values, event_id: id, contact_id };
  if (queue.length) c.executionCtx.waitUntil(c.env.QUEUE.send({ recipe: name, record }));
  return c.json({ event_id: id, contact_id, triggered_workflows: 0 }, 201);
});

app.post('/webhooks/:recipe', async (c) => {
  const name = c.req.param('recipe');
  const { customer, order_id } = await c.req.json<{ customer: { phone: string }; order_id: string }>();
  const delivery_key = c.req.header('x-delivery-id')!;
  const record: Values = { now: Date.now(), delivery_key, phone: customer.phone, order_id };
  await replay(c.env.DB, getRecipe(name).request, record, [record]);
  c.executionCtx.waitUntil(c.env.QUEUE.send({ recipe: name, record }));
  return c.json({ status: 'accepted', delivery_id: delivery_key, duplicate: false }, 202);
});

app.get('/contacts/:recipe', async (c) => {
  const rows = await replay(c.env.DB, getRecipe(c.req.param('recipe')).request, { now: Date.now() });
  return c.json({ contacts: rows });
});

app.post('/contacts/bulk-upsert', async (c) => {
  const { calls } = await c.req.json<{ calls: CallRecipe[] }>();
  return c.json({ contacts: await replay(c.env.DB, calls, { now: Date.now() }) });
});

app.post('/sleepers', async (c) => {
  const waiting = (await c.req.json<number[]>()).values();
  const worker = async () => {
    for (const id of waiting) await c.env.RUN.getByName(String(id)).sleep();
  };
  await Promise.all(Array.from({ length: parallelObjects }, worker));
  return c.body(null, 204);
});

const valuesOf = (record: Values | undefined, runId: unknown): Values => ({ ...record, now: Date.now(), run_id: Number(runId) });

/** The statements for a whole batch; the runs that they insert or find waiting go on in their objects, if the recipe has them do anything there. */
async function consume(bindings: Bindings, name: string, records: Values[]): Promise<void> {
  const { queue, object } = getRecipe(name);
  const objectOf = (id: unknown) => bindings.RUN.getByName(String(id));
  for (const call of queue) {
    const rows: Row[] = (await replay(bindings.DB, [call], { now: Date.now() }, records)).flat();
    const inserted = rows.filter((row) => 'dedup_key' in row);
    for (const [index, { id }] of inserted.entries()) records[index] = { ...records[index], run_id: Number(id) };
    if (object.length > 0) await Promise.all(inserted.map(({ id }, index) => objectOf(id).run(name, valuesOf(records[index], id))));
    const woken = rows.filter((row) => 'wait_id' in row);
    const indexOfEvent = new Map(records.map((record, index) => [record.event_id, index]));
    await Promise.all(
      woken.map(({ event_id, run_id }) => {
        const index = indexOfEvent.get(event_id as number)!;
        records[index] = { ...records[index], run_id: Number(run_id) };
        return objectOf(run_id).wake(name, valuesOf(records[index], run_id));
      }),
    );
  }
}

export default {
  fetch: app.fetch,
  async queue(batch, bindings) {
    try {
      for (const [name, messages] of Map.groupBy(batch.messages, ({ body }) => body.recipe))
        await consume(
          bindings,
          name,
          messages.map(({ body }) => body.record),
        );
    } catch (error) {
      console.error(
        JSON.stringify({ level: 'error', message: 'the floor fails: its recipe no longer fits the service', error: String(error) }),
      );
      throw error;
    }
    batch.ackAll();
  },
} satisfies ExportedHandler<Bindings, Message>;
