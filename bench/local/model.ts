import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createEmbeddings } from '../../simulators/openai/embeddings.ts';

/** When a question came, when the first word of its answer went, and when all of it had gone. In ms, as `performance.now()` tells them. */
export interface AnswerTimes {
  askedAt: number;
  firstWordAt: number;
  endedAt: number;
}

export interface Model {
  url: string;
  /** By the last text of the user in the question. */
  answers: Map<string, AnswerTimes>;
  /** All answers of a talk in their order, where the instructions begin with its name: "Talk 7.". */
  talks: Map<string, AnswerTimes[]>;
  /** How long each embeddings request took, from its arrival until its answer was sent. In ms. */
  embeddingMs: number[];
  close(): Promise<void>;
}

const firstWordDelayMs = 50;
const wordMs = 15;
const words = 'Of course. The delivery comes on Tuesday before noon.'.split(/(?= )/);
const conclusion = {
  disposition: 'unclear',
  summary: 'They talked about a delivery.',
  sentiment: 'neutral',
  tags: ['delivery'],
  do_not_call_quote: null,
};

/**
 * A model with OpenAI's interface that says the same to everything, a word at a time, makes vectors as the simulated one does, and notes
 * how long it took.
 */
export async function startModel(): Promise<Model> {
  const answers: Model['answers'] = new Map();
  const talks: Model['talks'] = new Map();
  const embeddingMs: Model['embeddingMs'] = [];
  const server = createServer((request, response) => {
    const answering =
      request.url === '/v1/embeddings' ? embed(request, response, embeddingMs) : answer(request, response, { answers, talks });
    void answering.catch((error: Error) => response.destroy(error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    talks,
    embeddingMs,
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

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  return text;
}

async function embed(request: IncomingMessage, response: ServerResponse, embeddingMs: number[]): Promise<void> {
  const text = await bodyOf(request);
  const askedAt = performance.now();
  const answered = JSON.stringify(await createEmbeddings(JSON.parse(text)));
  embeddingMs.push(performance.now() - askedAt);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(answered);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { answers, talks }: Pick<Model, 'answers' | 'talks'>,
): Promise<void> {
  const askedAt = performance.now();
  const text = await bodyOf(request);
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
  await sleep(firstWordDelayMs);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const answering = { askedAt, firstWordAt: performance.now(), endedAt: Infinity };
  answers.set(messages.findLast(({ role }) => role === 'user')?.content ?? '', answering);
  const talk = talkOf(messages);
  if (talk !== undefined) talks.set(talk, [...(talks.get(talk) ?? []), answering]);
  for (const word of words) {
    send({ content: word });
    await sleep(wordMs);
  }
  send({}, 'stop');
  response.end(`data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices: [], usage })}\n\ndata: [DONE]\n\n`);
  answering.endedAt = performance.now();
}

const talkOf = (messages: Question['messages']): string | undefined =>
  messages.flatMap(({ role, content }) => (role === 'system' ? (/^Talk ([^\s.]+)\./m.exec(content)?.[1] ?? []) : []))[0];
