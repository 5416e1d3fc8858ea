import { DurableObject } from 'cloudflare:workers';
import type { Bindings } from './floor-recipes.ts';

const rowsPerStatement = 500;

/** Takes in the rows of a file, 500 at a time. */
export class FloorRowsObject extends DurableObject<Bindings> {
  /** Returns the number of rows. */
  async importRows(file: string): Promise<number> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE campaign_row (number INTEGER PRIMARY KEY, phone TEXT NOT NULL, state TEXT NOT NULL, variables TEXT NOT NULL)');
    const stored = await this.env.FILES.get(file);
    const [heads, ...lines] = (await stored!.text()).split('\r\n').map((line) => line.split(','));
    for (let from = 0; from < lines.length; from += rowsPerStatement)
      this.ctx.storage.transactionSync(() => {
        for (const [index, cells] of lines.slice(from, from + rowsPerStatement).entries()) {
          const variables = Object.fromEntries(cells.map((cell, column) => [heads![column]!, cell]));
          sql.exec("INSERT INTO campaign_row VALUES (?, ?, 'pending', ?)", from + index + 1, cells[0], JSON.stringify(variables));
        }
      });
    return sql.exec<{ rows: number }>('SELECT count(*) AS rows FROM campaign_row').one().rows;
  }
}

/** Stores the last reported status of each call. */
export class FloorCallStatesObject extends DurableObject<Bindings> {
  async hear(call: string, status: string): Promise<void> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS call_state (call TEXT PRIMARY KEY, status TEXT NOT NULL) WITHOUT ROWID');
    sql.exec('INSERT INTO call_state VALUES (?, ?) ON CONFLICT (call) DO UPDATE SET status = excluded.status', call, status);
  }
}

type Frame = { type: 'setup' } | { type: 'prompt'; voicePrompt: string };
interface Chunk {
  choices: { delta: { content?: string } }[];
}

/** Greets, and speaks the model's answer to each text that the carrier's socket delivers. */
export class FloorTalkObject extends DurableObject<Bindings> {
  readonly #messages = [{ role: 'system', content: 'You take deliveries of a furniture shop.' }];

  override fetch(request: Request): Response {
    const [outer, inner] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    inner.serializeAttachment(request.headers.get('x-model'));
    this.ctx.acceptWebSocket(inner);
    return new Response(null, { status: 101, webSocket: outer });
  }

  override webSocketMessage(socket: WebSocket, data: string): void {
    const frame = JSON.parse(data) as Frame;
    if (frame.type === 'setup') socket.send(JSON.stringify({ type: 'text', token: 'Hello, when may we deliver?', last: true }));
    else this.ctx.waitUntil(this.#answer(socket, frame.voicePrompt));
  }

  async #answer(socket: WebSocket, said: string): Promise<void> {
    this.#messages.push({ role: 'user', content: said });
    const response = await fetch(String(socket.deserializeAttachment()), {
      method: 'POST',
      body: JSON.stringify({ model: 'bench', stream: true, messages: this.#messages }),
    });
    let [rest, answer] = ['', ''];
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const events = (rest + part).split('\n\n');
      rest = events.pop()!;
      for (const event of events) {
        if (event === 'data: [DONE]') continue;
        const token = (JSON.parse(event.slice('data: '.length)) as Chunk).choices[0]?.delta.content;
        if (token === undefined) continue;
        answer += token;
        socket.send(JSON.stringify({ type: 'text', token, last: false }));
      }
    }
    socket.send(JSON.stringify({ type: 'text', token: '', last: true }));
    this.#messages.push({ role: 'assistant', content: answer });
  }
}
