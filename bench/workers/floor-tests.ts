import { DurableObject } from 'cloudflare:workers';
import { Hono } from 'hono';
import type { Bindings } from './floor-recipes.ts';

/** A talk of an object with itself. */
interface Talk {
  /** The address of the model. */
  url: string;
  /** The system prompt of every question. */
  system: string;
  turns: number;
}

/** The least that two agents that talk can be: an alarm, in which the model is asked turn after turn, and one row is stored for each. */
export class FloorTestObject extends DurableObject<Bindings> {
  async start(talk: Talk): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE talk (talk TEXT NOT NULL)');
    sql.exec('CREATE TABLE turn (number INTEGER PRIMARY KEY, text TEXT NOT NULL, at INTEGER NOT NULL)');
    sql.exec('INSERT INTO talk VALUES (?)', JSON.stringify(talk));
    await this.ctx.storage.setAlarm(Date.now());
  }

  /** When each turn so far was said, epoch ms. */
  async moments(): Promise<number[]> {
    return this.#turns().map(({ at }) => at);
  }

  override async alarm(): Promise<void> {
    const { sql } = this.ctx.storage;
    const { url, system, turns } = JSON.parse(sql.exec<{ talk: string }>('SELECT talk FROM talk').one().talk) as Talk;
    for (let said = this.#turns(); said.length < turns; said = this.#turns()) {
      const messages = said.map(({ text }, index) => ({ role: (said.length - index) % 2 ? 'user' : 'assistant', content: text }));
      const body = JSON.stringify({ model: 'bench', stream: true, messages: [{ role: 'system', content: system }, ...messages] });
      const response = await fetch(url, { method: 'POST', body });
      sql.exec('INSERT INTO turn (text, at) VALUES (?, ?)', wordsIn(await response.text()), Date.now());
    }
  }

  #turns(): { text: string; at: number }[] {
    return this.ctx.storage.sql.exec<{ text: string; at: number }>('SELECT text, at FROM turn ORDER BY number').toArray();
  }
}

/** What is said in a stream of server-sent events. */
const wordsIn = (stream: string): string =>
  stream
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => (JSON.parse(event.slice('data: '.length)) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content)
    .join('');

export const testRoutes = new Hono<{ Bindings: Bindings }>();

testRoutes.put('/test-talks/:name', async (c) => {
  await c.env.TEST.getByName(c.req.param('name')).start(await c.req.json<Talk>());
  return c.body(null, 204);
});

testRoutes.get('/test-talks/:name', async (c) => c.json(await c.env.TEST.getByName(c.req.param('name')).moments()));
