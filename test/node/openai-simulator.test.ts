import OpenAI from 'openai';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listen } from '../../simulators/listen.ts';

const model = 'gpt-6-luna';

async function start() {
  const { url, close } = await listen({ port: 0 });
  onTestFinished(close);
  const baseURL = `${url}/openai/v1`;
  const client = new OpenAI({ apiKey: 'local-simulator', baseURL, maxRetries: 0, logLevel: 'off' });
  const send = async (path: string, body: unknown, headers: Record<string, string> = {}, method = 'POST') => {
    const answer = await fetch(`${baseURL}${path}`, {
      method,
      headers: { authorization: 'Bearer local-simulator', 'content-type': 'application/json', ...headers },
      ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
  };
  const chat = (more: Record<string, unknown>) =>
    send('/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }], ...more });
  return { url, baseURL, client, send, chat };
}

const user = (content: string) => ({ role: 'user' as const, content });
const system = (content: string) => ({ role: 'system' as const, content });
const tool = (name: string, description: string, parameters?: object) => ({
  type: 'function' as const,
  function: { name, description, ...(parameters ? { parameters: parameters as Record<string, unknown> } : {}) },
});

const transitions = [
  tool('book_demo', 'The caller agrees to a demo'),
  tool('not_interested', 'The caller is not interested or says no'),
  tool('call_back', 'The caller wants to be called back later', {
    type: 'object',
    properties: { day: { type: 'string', description: 'Day of the call back' }, times: { type: ['integer', 'null'] } },
    required: ['day', 'times'],
    additionalProperties: false,
  }),
  tool('end_call', 'The caller says goodbye'),
];
const talk = { model, tools: transitions, reasoning_effort: 'none' as const };

describe('a chat completion', () => {
  test('calls the transition whose condition fits what was said last, and else says a plain sentence', async () => {
    const { client } = await start();
    const called = async (said: string) => {
      const { choices } = await client.chat.completions.create({ ...talk, messages: [system('You are Ada from Acme.'), user(said)] });
      const [call] = choices[0]!.message.tool_calls ?? [];
      expect(choices[0]!.finish_reason).toBe(call ? 'tool_calls' : 'stop');
      return call?.type === 'function' ? call.function.name : choices[0]!.message.content;
    };
    expect(await called('Yes, that sounds good')).toBe('book_demo');
    expect(await called("No thanks, I don't want that")).toBe('not_interested');
    expect(await called('Yes, no problem')).toBe('book_demo');
    expect(await called('Could you call me back on Tuesday?')).toBe('call_back');
    expect(await called('Goodbye')).toBe('end_call');
    expect(await called('What is the weather like?')).toBe('I am Ada from Acme.');
  });

  test('fills the arguments of the call from what was said', async () => {
    const { client } = await start();
    const { choices } = await client.chat.completions.create({
      ...talk,
      messages: [user('Please call me back on tuesday, at most 3 times')],
    });
    const [call] = choices[0]!.message.tool_calls!;
    expect(call).toMatchObject({ type: 'function', function: { name: 'call_back' } });
    expect(JSON.parse((call as { function: { arguments: string } }).function.arguments)).toEqual({ day: 'Tuesday', times: 3 });
  });

  /** What it says turn by turn when the other side says `lines`. */
  const talkOf = async (prompt: string, lines: string[]) => {
    const { client } = await start();
    const messages: OpenAI.ChatCompletionMessageParam[] = [system(prompt)];
    const answers: string[] = [];
    for (const line of lines) {
      messages.push(user(line));
      const { choices } = await client.chat.completions.create({ model, messages });
      answers.push(choices[0]!.message.content!);
      messages.push({ role: 'assistant', content: answers.at(-1)! });
    }
    return answers;
  };

  test('says what its instructions have it say, line by line, and never the instructions', async () => {
    const prompt =
      'You are Ada from Acme. You call Bo about the spring offer. Be brief. Ask whether they are interested, and which day suits them. ' +
      'Offer to send a colleague. Never promise a price. If they hesitate, tell them that it is free. Thank them and say goodbye.';
    expect(await talkOf(prompt, ['Hello?', 'Hm.', 'Well.', 'Go on.'])).toEqual([
      'Are you interested?',
      'Which day suits you?',
      'We can send a colleague, if you like.',
      'Thank you, goodbye.',
    ]);
    const long = await talkOf(
      prompt,
      Array.from({ length: 30 }, (_, index) => `Well, ${index}.`),
    );
    for (const line of long) expect(line).not.toMatch(/\b(?:you are|you call|be brief|never|ask|them)\b/i);
    for (const [index, line] of long.entries()) expect(line).not.toBe(long[index - 1]);
  });

  test('plays given words in their order, once each, and tells as the one it plays what that one wants', async () => {
    const script = 'Play a customer, in these words:\nYes, I am interested.\nTuesday would suit me.\nThank you, goodbye.';
    expect(await talkOf(script, ['Are you interested in a Tuesday?', 'Which day?', 'Fine.'])).toEqual([
      'Yes, I am interested.',
      'Tuesday would suit me.',
      'Thank you, goodbye.',
    ]);
    expect(await talkOf('You are a customer. You want a refund for order 17.', ['How may I help?'])).toEqual([
      'I want a refund for order 17.',
    ]);
  });

  test('asks what its instructions have it find out, in speech', async () => {
    const asked = async (prompt: string) => (await talkOf(prompt, ['Hello.']))[0];
    expect(await asked('Find out whether the customer will come.')).toBe('Will you come?');
    expect(await asked('Ask whether this is a good moment.')).toBe('Is this a good moment?');
    expect(await asked('Ask the caller when they want to decide.')).toBe('Could you tell me when you want to decide?');
    expect(await asked('Ask if the customer wants a demo.')).toBe('Do you want a demo?');
    expect(await asked('Ask for their name.')).toBe('May I ask you for your name?');
    expect(await asked('Tell the caller that we open at nine.')).toBe('We open at nine.');
  });

  test('answers a question with what its instructions know, and a goodbye with a goodbye', async () => {
    const prompt = 'You are Ada. The shop opens at nine. Parking is free. Ask whether they need a bag.';
    expect(await talkOf(prompt, ['Is parking free?', 'When does the shop open?', 'Fine.', 'Goodbye.'])).toEqual([
      'Parking is free.',
      'The shop opens at nine.',
      'Do you need a bag?',
      'Thank you, goodbye.',
    ]);
  });

  test('obeys tool_choice', async () => {
    const { client } = await start();
    const messages = [user('What is the weather like?')];
    const create = async (choice: OpenAI.ChatCompletionToolChoiceOption) =>
      (await client.chat.completions.create({ ...talk, messages, tool_choice: choice })).choices[0]!;
    expect((await create('none')).message.tool_calls).toBeUndefined();
    expect((await create('required')).message.tool_calls).toHaveLength(1);
    const named = await create({ type: 'function', function: { name: 'end_call' } });
    expect(named).toMatchObject({ finish_reason: 'stop', message: { tool_calls: [{ function: { name: 'end_call', arguments: '{}' } }] } });
  });

  test('speaks once a tool has answered, from what it found', async () => {
    const { client } = await start();
    const after = async (found: string) => {
      const call = { id: 'call_1', type: 'function' as const, function: { name: 'end_call', arguments: '{}' } };
      const messages = [
        system('Ask the caller for a day.'),
        user('Yes, when are you open?'),
        { role: 'assistant' as const, content: null, tool_calls: [call] },
        { role: 'tool' as const, tool_call_id: 'call_1', content: found },
      ];
      return (await client.chat.completions.create({ ...talk, messages })).choices[0]!.message;
    };
    expect(await after('{"status":"done"}')).toMatchObject({ content: 'Thank you, goodbye.' });
    const passages = JSON.stringify({ passages: [{ text: 'We sell bicycles in Paris.' }, { text: 'We are open from nine to five.' }] });
    expect(await after(passages)).toMatchObject({ content: 'We are open from nine to five.' });
    const tagged =
      'Told below, when it is open:\n<passage document="Opening hours">\nWe sell bicycles.\nOn Monday we are open late.\n</passage>';
    expect(await after(tagged)).toMatchObject({ content: 'On Monday we are open late.' });
    expect(await after('{"error":"The store of opening hours is down"}')).toMatchObject({ content: expect.stringMatching(/^I am sorry/) });
  });

  test('looks up what is asked and fits no other tool, where a tool takes a question', async () => {
    const { client } = await start();
    const lookUp = tool('find_facts', 'Finds facts in documents', {
      type: 'object',
      properties: { query: { type: 'string', maxLength: 500, description: 'What to find out, as a whole question' } },
      required: ['query'],
    });
    const called = async (said: string) => {
      const messages = [system('You are Ada.'), user(said)];
      const { choices } = await client.chat.completions.create({ ...talk, tools: [...transitions, lookUp], messages });
      const [call] = choices[0]!.message.tool_calls ?? [];
      return call?.type === 'function' ? [call.function.name, JSON.parse(call.function.arguments)] : null;
    };
    expect(await called('I see. How long is the warranty?')).toEqual(['find_facts', { query: 'How long is the warranty?' }]);
    expect(await called('how long is the warranty')).toEqual(['find_facts', { query: 'how long is the warranty' }]);
    expect(await called('Could you call me back on Tuesday?')).toMatchObject(['call_back', {}]);
    expect(await called('The warranty is long')).toBeNull();
  });

  test('without instructions repeats what was said; says the same every time, and counts its tokens', async () => {
    const { chat } = await start();
    const [first, second] = [await chat({}), await chat({})];
    expect(first.body).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'You said: Hello', refusal: null }, finish_reason: 'stop' }],
    });
    expect(second.body.choices).toEqual(first.body.choices);
    const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = first.body.usage;
    expect([prompt > 0, completion, total]).toEqual([true, 4, prompt + completion]);
    const longer = await chat({ messages: [user('Hello, and a good many words more than before')] });
    expect(longer.body.usage.prompt_tokens).toBeGreaterThan(prompt);
    expect(first.headers.get('x-request-id')).toMatch(/^req_/);
    expect(first.headers.get('x-ratelimit-remaining-requests')).toMatch(/^\d+$/);
  });

  test('is cut at max_completion_tokens and says so, arguments of a call included', async () => {
    const { chat } = await start();
    const said = await chat({ messages: [user('one two three four five six')], max_completion_tokens: 4 });
    expect(said.body).toMatchObject({
      choices: [{ finish_reason: 'length', message: { content: 'You said: one' } }],
      usage: { completion_tokens: 4 },
    });
    const call = await chat({ ...talk, messages: [user('Call back on Friday')], max_completion_tokens: 2 });
    expect(call.body.choices[0].finish_reason).toBe('length');
    expect(() => JSON.parse(call.body.choices[0].message.tool_calls[0].function.arguments)).toThrow(SyntaxError);
  });
});

describe('a stream', () => {
  test('gives the same message in pieces, then the usage when it is asked for, then [DONE]', async () => {
    const { client, baseURL } = await start();
    const messages = [system('We are open from nine to five.'), user('Hello')];
    const whole = await client.chat.completions.create({ model, messages });
    const stream = await client.chat.completions.create({ model, messages, stream: true, stream_options: { include_usage: true } });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(whole.choices[0]!.message.content);
    expect(chunks.length).toBeGreaterThan(5);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: whole.usage!.total_tokens } });
    expect(chunks.at(-2)!.choices[0]!.finish_reason).toBe('stop');
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
    const answer = await fetch(`${baseURL}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, stream: true }),
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await answer.text()).trimEnd().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    expect(events.every((event) => event.startsWith('data: '))).toBe(true);
    expect(events.join()).not.toContain('usage');
  });

  test('splits the arguments of a tool call into fragments that are no JSON each', async () => {
    const { client } = await start();
    const messages = [user('Could you call me back on Thursday?')];
    const stream = await client.chat.completions.create({ ...talk, messages, stream: true });
    const deltas = [];
    let finish;
    for await (const { choices } of stream) {
      deltas.push(...(choices[0]?.delta.tool_calls ?? []));
      finish = choices[0]?.finish_reason ?? finish;
    }
    expect(deltas[0]).toMatchObject({ index: 0, id: expect.stringMatching(/^call_/), function: { name: 'call_back', arguments: '' } });
    expect(deltas.slice(1).every(({ id, index }) => id === undefined && index === 0)).toBe(true);
    const fragments = deltas.map((delta) => delta.function!.arguments!);
    expect(fragments.length).toBeGreaterThan(3);
    expect(JSON.parse(fragments.join(''))).toEqual({ day: 'Thursday', times: null });
    expect(finish).toBe('tool_calls');
  });
});

describe('what the vendor refuses is refused in its words', () => {
  test.each([
    ['no model', { model: undefined }, 'you must provide a model parameter', null, null],
    ['no messages', { messages: undefined }, "Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter'],
    ['empty messages', { messages: [] }, "Invalid 'messages': empty array.", 'messages', 'empty_array'],
    ['an unknown parameter', { temperatur: 1 }, "Unknown parameter: 'temperatur'.", 'temperatur', 'unknown_parameter'],
    [
      'an unknown role',
      { messages: [{ role: 'boss', content: 'x' }] },
      "Invalid value: 'boss'. Supported values are: 'system', ",
      'messages[0].role',
      'invalid_value',
    ],
    [
      'a number as content',
      { messages: [{ role: 'user', content: 7 }] },
      "Invalid type for 'messages[0].content': expected one of a string or an array, but got an integer instead.",
      'messages[0].content',
      'invalid_type',
    ],
    [
      'no content',
      { messages: [{ role: 'user' }] },
      "Invalid value for 'content': expected a string, got null.",
      'messages.[0].content',
      null,
    ],
    [
      'zero tokens',
      { max_completion_tokens: 0 },
      "Invalid 'max_completion_tokens': integer below minimum value.",
      'max_completion_tokens',
      'integer_below_min_value',
    ],
    [
      'max_tokens',
      { max_tokens: 5 },
      "Unsupported parameter: 'max_tokens' is not supported with this model.",
      'max_tokens',
      'unsupported_parameter',
    ],
    [
      'a temperature',
      { temperature: 0 },
      "Unsupported value: 'temperature' does not support 0 with this model.",
      'temperature',
      'unsupported_value',
    ],
    ['tools with reasoning', { tools: transitions }, "set reasoning_effort to 'none'.", 'reasoning_effort', null],
    ['a choice without tools', { tool_choice: 'auto' }, "'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice', null],
    [
      'a bad tool name',
      { ...talk, tools: [tool('end call', '')] },
      "Invalid 'tools[0].function.name': string does not match pattern.",
      'tools[0].function.name',
      'invalid_value',
    ],
    [
      'parameters that are no object',
      { ...talk, tools: [tool('x', '', { type: 'string' })] },
      `Invalid schema for function 'x': schema must be a JSON Schema of 'type: "object"', got 'type: "string"'.`,
      'tools[0].function.parameters',
      'invalid_function_parameters',
    ],
    [
      'stream options without a stream',
      { stream_options: { include_usage: true } },
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
      null,
    ],
    [
      'json_object without the word',
      { response_format: { type: 'json_object' } },
      "'messages' must contain the word 'json' in some form",
      'messages',
      null,
    ],
    [
      'an unanswered tool call',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ id: 'call_9', type: 'function', function: { name: 'x', arguments: '{}' } }] },
          user('and?'),
        ],
      },
      'did not have response messages: call_9',
      'messages.[1].role',
      null,
    ],
    [
      'a tool message without a call',
      { messages: [{ role: 'tool', tool_call_id: 'c', content: 'x' }] },
      "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      'messages.[0].role',
      null,
    ],
    ['an embedding model', { model: 'text-embedding-3-small' }, 'This is not a chat model', 'model', null],
    [
      'too long a prompt',
      { messages: [user('word '.repeat(130_000))] },
      "This model's maximum context length is 128000 tokens.",
      'messages',
      'context_length_exceeded',
    ],
  ])('%s', async (_case, more, message, param, code) => {
    const { chat } = await start();
    const { status, body } = await chat(more);
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining(message), type: 'invalid_request_error', param, code } },
    });
  });

  test.each([
    [
      { properties: { a: { type: 'string' } }, required: ['a'] },
      "In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ],
    [
      { properties: { a: { type: 'string' } }, required: [], additionalProperties: false },
      "In context=(), 'required' is required to be supplied and to be an array including every key in properties. Missing 'a'.",
    ],
    [
      { properties: { a: { type: 'object', properties: {} } }, required: ['a'], additionalProperties: false },
      "In context=('properties', 'a'), 'additionalProperties' is required to be supplied and to be false.",
    ],
    [{ properties: {}, required: [], additionalProperties: false, allOf: [] }, "In context=(), 'allOf' is not permitted."],
  ])('a strict schema that is not strict: %j', async (schema, fault) => {
    const { chat } = await start();
    const formatOf = (strict: boolean) => ({
      type: 'json_schema',
      json_schema: { name: 'answer', strict, schema: { type: 'object', ...schema } },
    });
    const { status, body } = await chat({ response_format: formatOf(true) });
    expect([status, body.error.message, body.error.param]).toEqual([
      400,
      `Invalid schema for response_format 'answer': ${fault}`,
      'response_format',
    ]);
    expect((await chat({ response_format: formatOf(false) })).status).toBe(200);
  });

  test('a missing or invalid key, another content type, no JSON, an unknown path, another method, an unknown model', async () => {
    const { chat, send, url } = await start();
    const body = { model, messages: [user('Hello')] };
    const refusal = async (answer: Promise<{ status: number; body: any }>) => {
      const { status, body: refused } = await answer;
      expect(Object.keys(refused.error)).toEqual(['message', 'type', 'param', 'code']);
      return `${status} ${refused.error.code} ${refused.error.message}`;
    };
    expect(await refusal(send('/chat/completions', body, { authorization: '' }))).toMatch(/^401 null You didn't provide an API key/);
    const badKey = await refusal(send('/chat/completions', body, { authorization: 'Bearer sk-invalid-key-4711' }));
    expect(badKey).toMatch(/^401 invalid_api_key Incorrect API key provided: sk-i\*+4711\./);
    expect(await refusal(send('/chat/completions', 'x', { 'content-type': 'text/plain' }))).toMatch(/^400 unsupported_content_type/);
    expect(await refusal(send('/chat/completions', '{"model":'))).toMatch(/^400 null We could not parse the JSON body/);
    expect(await refusal(send('/completions', body))).toBe('404 null Invalid URL (POST /v1/completions)');
    expect(await refusal(send('/chat/completions', body, {}, 'GET'))).toMatch(/^405 method_not_supported Not allowed to GET/);
    expect(await refusal(chat({ model: 'llama' }))).toBe(
      '404 model_not_found The model `llama` does not exist or you do not have access to it.',
    );
    const withoutVersion = await fetch(`${url}/openai/chat/completions`, { method: 'POST' });
    expect([withoutVersion.status, await withoutVersion.json()]).toMatchObject([
      404,
      { error: { message: 'Invalid URL (POST /chat/completions)' } },
    ]);
  });
});

describe('a mark in a prompt', () => {
  test('SIM_ERROR_429 is a rate limit that tells when to come again, SIM_ERROR_429_QUOTA an empty account, SIM_ERROR_500 an error', async () => {
    const { chat, send } = await start();
    const limited = await chat({ messages: [system('SIM_ERROR_429'), user('Hello')] });
    expect([limited.status, limited.body.error.type, limited.body.error.code]).toEqual([429, 'requests', 'rate_limit_exceeded']);
    expect([
      limited.headers.get('retry-after'),
      limited.headers.get('retry-after-ms'),
      limited.headers.get('x-ratelimit-remaining-requests'),
    ]).toEqual(['1', '120', '0']);
    const empty = await chat({ messages: [user('SIM_ERROR_429_QUOTA')] });
    expect([empty.status, empty.body.error.type, empty.body.error.code]).toEqual([429, 'insufficient_quota', 'insufficient_quota']);
    expect(empty.headers.get('retry-after')).toBeNull();
    const failed = await chat({ messages: [user('SIM_ERROR_500')], stream: true });
    expect([failed.status, failed.body.error.type]).toEqual([500, 'server_error']);
    expect((await send('/embeddings', { model: 'text-embedding-3-small', input: ['fine', 'SIM_ERROR_500'] })).status).toBe(500);
  });

  test('SIM_SLOW makes the answer wait', async () => {
    const { chat } = await start();
    const startedAt = performance.now();
    expect((await chat({ messages: [user('Hello SIM_SLOW_120')] })).status).toBe(200);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(115);
  });
});

describe('embeddings', () => {
  const small = 'text-embedding-3-small';
  const dot = (one: number[], other: number[]) => one.reduce((sum, value, index) => sum + value * other[index]!, 0);

  test('have 1536 dimensions and unit length, and are nearer the more words two texts share', async () => {
    const { client } = await start();
    const input = [
      'How do I schedule a delivery?',
      'Scheduling deliveries: how it is done',
      'Our cat likes to sleep on the sofa',
      '!',
      '配達の予定',
    ];
    const { data, usage } = await client.embeddings.create({ model: small, input, encoding_format: 'float' });
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    const [question, near, far] = data.map(({ embedding }) => embedding) as [number[], number[], number[]];
    for (const { embedding } of data) {
      expect(embedding).toHaveLength(1536);
      expect(dot(embedding, embedding)).toBeCloseTo(1, 5);
    }
    expect(dot(question, near)).toBeGreaterThan(0.5);
    expect(Math.abs(dot(question, far))).toBeLessThan(0.2);
    expect(usage.prompt_tokens).toBeGreaterThan(20);
    const again = await client.embeddings.create({ model: small, input: input[0]!, encoding_format: 'float' });
    expect(again.data[0]!.embedding).toEqual(question);
  });

  test('are the same as float and as base64, which the client asks for by itself', async () => {
    const { client, send } = await start();
    const floats = await client.embeddings.create({ model: small, input: 'same', encoding_format: 'float' });
    const decoded = await client.embeddings.create({ model: small, input: 'same' });
    const raw = await send('/embeddings', { model: small, input: 'same', encoding_format: 'base64' });
    expect(raw.body.data[0].embedding).toHaveLength(8192);
    expect(Array.from(decoded.data[0]!.embedding, Math.fround)).toEqual(Array.from(floats.data[0]!.embedding, Math.fround));
  });

  test('with fewer dimensions are the beginning of the whole vector at unit length', async () => {
    const { client } = await start();
    const create = async (dimensions?: number) =>
      (
        await client.embeddings.create({
          model: small,
          input: 'a text of some words to embed',
          encoding_format: 'float',
          ...(dimensions ? { dimensions } : {}),
        })
      ).data[0]!.embedding;
    const [whole, part] = [await create(), await create(256)];
    const length = Math.hypot(...whole.slice(0, 256));
    expect(part).toHaveLength(256);
    for (const [index, value] of part.entries()) expect(value).toBeCloseTo(whole[index]! / length, 5);
    expect(await create(1)).toHaveLength(1);
  });

  const long = (tokens: number) => 'word '.repeat(tokens);
  test.each([
    ['no input', { input: undefined }, "Missing required parameter: 'input'."],
    ['an empty text', { input: '' }, "'$.input' is invalid."],
    ['an empty text among others', { input: ['a', ''] }, "'$.input' is invalid."],
    ['no texts', { input: [] }, "Invalid 'input': empty array."],
    ['too many texts', { input: Array.from({ length: 2049 }, () => 'a') }, "'$.input' is invalid."],
    ['too long a text', { input: ['a', long(8193)] }, "Invalid 'input[1]': maximum input length is 8192 tokens."],
    ['too much in all', { input: Array.from({ length: 40 }, () => long(8000)) }, 'Requested 320000 tokens, max 300000 tokens per request'],
    ['too many dimensions', { dimensions: 1537 }, "Invalid value for 'dimensions' = 1537. Must be less than or equal to 1536."],
    ['no dimensions', { dimensions: 0 }, "Invalid 'dimensions': integer below minimum value."],
    [
      'dimensions of a model that has but one',
      { model: 'text-embedding-ada-002', dimensions: 8 },
      'This model does not support specifying dimensions.',
    ],
    ['another encoding', { encoding_format: 'hex' }, "Invalid value: 'hex'. Supported values are: 'float' and 'base64'."],
  ])('%s is refused', async (_case, more, message) => {
    const { send } = await start();
    const { status, body } = await send('/embeddings', { model: small, input: 'a', ...more });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('take 2048 texts, and an unknown model is not found', async () => {
    const { send } = await start();
    const { body } = await send('/embeddings', {
      model: small,
      input: Array.from({ length: 2048 }, (_, index) => `text ${index}`),
      dimensions: 2,
    });
    expect(body.data).toHaveLength(2048);
    expect((await send('/embeddings', { model: 'gpt-6-luna', input: 'a' })).body.error.code).toBe('model_not_found');
  });
});
