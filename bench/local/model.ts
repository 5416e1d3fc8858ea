import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** When a question came and when the first word of its answer went. In ms, as `performance.now()` tells them. */
export interface Answering {
  askedAt: number;
  firstWordAt: number;
}

export interface Model {
  url: string;
  /** By the last text of the user in the question. */
  answers: Map<string, Answering>;
  close(): Promise<void>;
}

const thinksMs = 50;
const wordMs = 15;
const words = 'Of course. The delivery comes on Tuesday before noon.'.split(/(?= )/);
const conclusion = { disposition: 'unclear', summary: 'They talked about a delivery.', sentiment: 'neutral', tags: ['delivery'] };

/** A language model with OpenAI's interface that says the same to everything, a word at a time, and notes when it did. */
export async function startModel(): Promise<Model> {
  const answers: Model['answers'] = new Map();
  const server = createServer((request, response) => {
    void answer(request, response, answers).catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

interface Question {
  stream?: boolean;
  messages: { role: string; content: string }[];
}

async function answer(request: IncomingMessage, response: ServerResponse, answers: Model['answers']): Promise<void> {
  const askedAt = performance.now();
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  const { stream, messages } = JSON.parse(text) as Question;
  const shared = { id: 'chatcmpl-bench', created: Math.floor(Date.now() / 1000), model: 'bench' };
  const usage = { prompt_tokens: 100, completion_tokens: words.length, total_tokens: 100 + words.length };
  if (!stream) {
    const message = { role: 'assistant', content: JSON.stringify(conclusion), refusal: null };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...shared, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }));
    return;
  }
  const send = (delta: object, finish_reason: string | null = null) =>
    response.write(
      `data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage: null })}\n\n`,
    );
  await sleep(thinksMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  answers.set(messages.findLast(({ role }) => role === 'user')?.content ?? '', { askedAt, firstWordAt: performance.now() });
  for (const word of words) {
    send({ content: word });
    await sleep(wordMs);
  }
  send({}, 'stop');
  response.end(`data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`);
}
