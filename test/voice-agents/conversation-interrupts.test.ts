import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutUtterances } from '../../src/voice-agents/conversation/cut-history.ts';
import type { GuardedResponse } from '../../src/providers/http/guarded-request.ts';
import { answer, begin, historyFault } from './begin.ts';
import { type Answer, HeldModel, settle } from './fake-model.ts';

const agent = {
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      data: {
        prompt: 'Talk.',
        greeting: 'Hello there',
        tools: [{ name: 'book', description: 'Books', http: { url: 'https://example.com/' } }],
      },
    },
    { id: 'next', type: 'agentNode', data: { prompt: 'Go on.' } },
    { id: 'bye', type: 'endCall', data: { prompt: 'Say goodbye.' } },
  ],
  edges: [
    { id: 'on', source: 'start', target: 'next', data: { label: 'on', condition: 'on' } },
    { id: 'back', source: 'next', target: 'next', data: { label: 'on', condition: 'on' } },
    { id: 'end', source: 'start', target: 'bye', data: { label: 'over', condition: 'over' } },
  ],
};

/** A talk whose answers come word by word when the test says so. */
async function held(...answers: Answer[]) {
  const model = new HeldModel((number) => answers[Math.min(number, answers.length - 1)]!);
  const talk = begin(model, { definition: agent });
  await talk.conversation.start();
  /** Begins a turn and lets `words` of its answer through. */
  const prompt = async (text: string, words = 0) => {
    const turn = talk.conversation.userTurn(text);
    await settle();
    await release(words);
    return { turn };
  };
  const release = async (words: number) => {
    model.streams.at(-1)!.release(words);
    await settle();
  };
  return { ...talk, model, prompt, release };
}

describe('an interrupt', () => {
  test('stops the words, aborts the question, and leaves in the history what was spoken', async () => {
    const { conversation, model, history, tokens, unsaid } = await held('We are open from nine to five');
    const turn = conversation.userTurn('When?');
    await settle();
    model.streams[0]!.release(4);
    await settle();
    expect(unsaid()).toBe('We are open from');
    const before = conversation.state!.epoch;
    conversation.interrupt('We are');
    expect(model.streams[0]!.signal.aborted).toBe(true);
    model.streams[0]!.release(9);
    expect(await turn).toMatchObject({ status: 'superseded', end: null });
    expect(conversation.state).toMatchObject({ epoch: before + 1, owesAnswer: false });
    expect(history()).toEqual(['assistant: Hello there', 'user: When?', 'assistant: We are ...']);
    expect(tokens.filter(({ last }) => last)).toHaveLength(1);
  });

  test('before a word was spoken leaves nothing', async () => {
    const { conversation, history, prompt } = await held('We are open');
    await prompt('When?', 2);
    conversation.interrupt('');
    expect(history()).toEqual(['assistant: Hello there', 'user: When?']);
  });

  test('after all was said cuts what was said, and once more changes nothing', async () => {
    const { conversation, history, prompt, release } = await held('We are open');
    const { turn } = await prompt('When?');
    await release(9);
    expect(await turn).toMatchObject({ status: 'answered' });
    conversation.interrupt('we  ARE');
    conversation.interrupt('we are');
    expect(history()).toEqual(['assistant: Hello there', 'user: When?', 'assistant: We are ...']);
  });

  test('cuts the greeting, too', async () => {
    const { conversation, history } = await held('x');
    conversation.interrupt('Hello');
    expect(history()).toEqual(['assistant: Hello ...']);
  });

  test('of the speech before, which comes after the next prompt, leaves the answer under way alone', async () => {
    const { conversation, model, history, prompt, release } = await held('We are open');
    const { turn } = await prompt('When?');
    conversation.interrupt('Hello');
    expect(model.streams[0]?.signal.aborted ?? false).toBe(false);
    await settle();
    await release(9);
    expect(await turn).toMatchObject({ status: 'answered', said: ['We are open'] });
    expect(history()).toEqual(['assistant: Hello ...', 'user: When?', 'assistant: We are open']);
  });

  test('keeps the calls that were made with words that were not spoken', async () => {
    let respond: (response: GuardedResponse) => void = () => {};
    const model = new HeldModel((number) => (number === 0 ? { text: 'One moment please', calls: [['book']] } : 'It is booked'));
    const talk = begin(model, { definition: agent, world: { sendHttp: () => new Promise((resolve) => (respond = resolve)) } });
    await talk.conversation.start();
    const turn = talk.conversation.userTurn('Book');
    await settle();
    model.streams[0]!.release(9);
    await settle();
    talk.conversation.interrupt('');
    respond(answer({ table: 4 }));
    expect(await turn).toMatchObject({ status: 'superseded' });
    expect(model.streams).toHaveLength(1);
    const after = talk.conversation.userTurn('And?');
    await settle();
    await model.drain();
    expect(await after).toMatchObject({ said: ['It is booked'] });
    expect(model.asked[1]!.messages).toEqual([
      { role: 'assistant', content: 'Hello there' },
      { role: 'user', content: 'Book' },
      { role: 'assistant', content: null, tool_calls: [expect.objectContaining({ name: 'book' })] },
      { role: 'tool', tool_call_id: 'call_3_0', content: '{"status":200,"body":{"table":4}}' },
      { role: 'user', content: 'And?' },
    ]);
    expect(talk.events('tool_called')).toMatchObject([{ name: 'book', is_late: true }]);
  });

  test('in the first of several utterances takes those behind it out of the history', async () => {
    const { conversation, history, release } = await held(
      { text: 'One moment please', calls: [['nothing_like_it']] },
      'Here it is',
      'Well',
    );
    const turn = conversation.userTurn('Book');
    await settle();
    await release(9);
    await release(9);
    await turn;
    conversation.interrupt('One');
    expect(history()).toEqual(['assistant: Hello there', 'user: Book', 'assistant: One ...', expect.stringMatching(/^tool: /)]);
  });

  test('of a goodbye lets the other side speak once more, or ends in silence', async () => {
    const silent = await held({ calls: [['over']] }, 'Thank you and goodbye');
    const leaving = silent.conversation.userTurn('No');
    await settle();
    await silent.release(1);
    await silent.release(2);
    silent.conversation.interrupt('Thank you');
    expect(await leaving).toMatchObject({ status: 'superseded', end: null });
    silent.clock.now = silent.conversation.nextGuardAt;
    expect(silent.conversation.applyDueGuard()).toMatchObject({ action: 'end_idle', outcome: { end: 'end_node', said: [] } });

    const long = await held({ calls: [['over']] }, 'Thank you and goodbye');
    void long.conversation.userTurn('No');
    await settle();
    await long.release(1);
    await long.release(2);
    long.conversation.interrupt('Thank you');
    long.clock.now = long.conversation.state!.startedAt + 300_000;
    expect(long.conversation.applyDueGuard()).toMatchObject({ action: 'end_duration', outcome: { end: 'end_node' } });

    const talking = await held({ calls: [['over']] }, 'Thank you and goodbye', 'At nine. Goodbye');
    void talking.conversation.userTurn('No');
    await settle();
    await talking.release(1);
    await talking.release(2);
    talking.conversation.interrupt('Thank you');
    const last = talking.conversation.userTurn('When do you open?');
    await settle();
    await talking.release(9);
    expect(await last).toMatchObject({ said: ['At nine. Goodbye'], end: 'end_node' });
  });
});

describe('a prompt', () => {
  test('that comes before the answer to the one before is answered together with it', async () => {
    const { conversation, model, history } = await held('never said', 'Both');
    const first = conversation.userTurn('One');
    const second = conversation.userTurn('Two');
    await settle();
    await model.drain();
    expect(await first).toMatchObject({ status: 'superseded', said: [] });
    expect(await second).toMatchObject({ status: 'answered', said: ['Both'] });
    expect(history()).toEqual(['assistant: Hello there', 'user: One', 'user: Two', 'assistant: Both']);
    expect(model.streams[0]!.signal.aborted).toBe(true);
  });

  test('in the middle of an answer keeps what was said, and the next words begin anew', async () => {
    const { conversation, utterances, history, prompt, release } = await held('We are open', 'At nine');
    const { turn: first } = await prompt('When?', 2);
    const second = conversation.userTurn('On Sunday, I mean');
    await settle();
    await release(9);
    expect([(await first).status, (await second).status]).toEqual(['superseded', 'answered']);
    expect(utterances).toEqual(['Hello there', 'We are', 'At nine']);
    expect(history().slice(1)).toEqual(['user: When?', 'assistant: We are ...', 'user: On Sunday, I mean', 'assistant: At nine']);
  });

  test('while the model is failing is answered, without an apology in between', async () => {
    const { conversation, release, utterances } = await held({ failure: 'provider_failed', retryable: false }, 'Fine');
    const first = conversation.userTurn('One');
    await settle();
    void release(1);
    const second = conversation.userTurn('Two');
    await settle();
    await release(9);
    expect([(await first).status, (await second).status]).toEqual(['superseded', 'answered']);
    expect([utterances, conversation.state!.end]).toEqual([['Hello there', 'Fine'], null]);
  });

  test.each<[string, Answer]>([
    ['a failure', { failure: 'provider_failed', retryable: false }],
    ['calls', { calls: [['book'], ['on']] }],
    ['a goodbye', { text: 'Goodbye', calls: [['end_call']] }],
  ])('in the moment in which the end of %s has come, and the stream is being left, comes first', async (_case, answer_) => {
    const { conversation, model, release, sent, utterances } = await held(answer_, 'Fine');
    let leave: () => void = () => {};
    model.leave = () => new Promise((resolve) => (leave = resolve));
    const first = conversation.userTurn('One');
    await settle();
    await release(9);
    const spoken = utterances.slice();
    model.leave = async () => {};
    const second = conversation.userTurn('Two');
    leave();
    await settle();
    await release(9);
    expect([(await first).status, (await second).status]).toEqual(['superseded', 'answered']);
    expect(utterances).toEqual([...spoken, 'Fine']);
    expect([sent, conversation.state!.nodeId, conversation.state!.end]).toEqual([[], 'start', null]);
  });

  test('of blanks is none', async () => {
    const { conversation, store } = await held('x');
    const before = store.state();
    expect(await conversation.userTurn(' \n ')).toMatchObject({ status: 'ignored' });
    expect(store.state()).toBe(before);
  });

  test('during the goodbye of a model that hangs up on its own is answered, and the talk goes on', async () => {
    const { conversation, release, model } = await held({ calls: [['end_call']] }, 'Goodbye then', 'At nine');
    const first = conversation.userTurn('Bye');
    await settle();
    await release(1);
    await release(1);
    const second = conversation.userTurn('Wait, when do you open?');
    await settle();
    await release(9);
    expect([await first, await second]).toMatchObject([{ status: 'superseded' }, { status: 'answered', said: ['At nine'], end: null }]);
    expect(model.asked[2]!.tool_choice).toBeUndefined();
  });
});

test('a hang-up in the middle of an answer keeps what was said, and says nothing more', async () => {
  const { conversation, history, prompt, release, tokens } = await held('We are open');
  const { turn } = await prompt('When?', 2);
  conversation.end('hung_up');
  const count = tokens.length;
  await release(9);
  expect(await turn).toMatchObject({ status: 'superseded', end: 'hung_up' });
  expect(tokens).toHaveLength(count);
  expect(history().at(-1)).toBe('assistant: We are ...');
});

type Action = 'word' | 'prompt' | 'interrupt' | 'resume' | 'respond' | 'wait';

test('whatever comes when: only the newest turn speaks, nothing that was said to the agent is lost, and the last word is answered', async () => {
  const answers = fc.constantFrom<Answer>(
    'One two three',
    { calls: [['on']] },
    { text: 'Booking it now', calls: [['book']] },
    { calls: [['book'], ['on']] },
    { calls: [['nothing_like_it']] },
    { text: 'Half a', failure: 'provider_failed' },
    '',
  );
  const actions = fc.array(fc.constantFrom<Action>('word', 'word', 'word', 'prompt', 'interrupt', 'resume', 'respond', 'wait'), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(answers, { minLength: 1, maxLength: 30 }),
      actions,
      fc.infiniteStream(fc.nat(50)),
      async (script, steps, numbers) => {
        const pick = (below: number) => (numbers.next().value as number) % below;
        let turnStarted = -1;
        const model = new HeldModel((number) => script[number % script.length]!);
        const responses: (() => void)[] = [];
        const talk = begin(model, {
          definition: agent,
          world: { sendHttp: () => new Promise((resolve) => responses.push(() => resolve(answer('ok')))) },
        });
        const { conversation, tokens, store } = talk;
        await conversation.start();
        const said: string[] = [];
        const turns: Promise<unknown>[] = [];
        const prompt = (text: string) => {
          // Two failures of the model in a row end the talk; later utterances are lost.
          if (store.state()!.end === null) said.push(text);
          turns.push(conversation.userTurn(text));
        };
        let quietSince: number | null = null;
        /** After an interrupt, nothing may be said until a new turn begins. */
        const checkQuiet = () => {
          if (quietSince !== null) expect(tokens.length).toBe(quietSince);
        };
        for (const step of steps) {
          const open = model.streams.filter((stream) => stream.canRelease);
          const newest = model.streams.at(-1);
          const count = tokens.length;
          if (step === 'word' && open.length > 0) {
            const stream = open[pick(open.length)]!;
            stream.release();
            await settle();
            // Only the newest question of the newest turn may lead to words.
            if (stream !== newest) expect(tokens.length).toBe(count);
          } else if (step === 'prompt') {
            quietSince = null;
            turnStarted = model.streams.length;
            prompt(`prompt ${turns.length}`);
            if (pick(2) === 0) await settle();
          } else if (step === 'interrupt') {
            conversation.interrupt(['', 'One two', 'Booking', 'Hello', 'something else'][pick(5)]!);
            if (!store.state()!.owesAnswer) quietSince = tokens.length;
          } else if (step === 'resume') turns.push(conversation.resume());
          else if (step === 'respond') responses.splice(pick(3), 1).forEach((respond) => respond());
          else await settle();
          checkQuiet();
          for (const stream of model.streams.slice(0, Math.max(0, turnStarted))) expect(stream.signal.aborted || stream.isOver).toBe(true);
        }
        prompt('last');
        for (let round = 0; round < 30 && store.state()!.owesAnswer; round++) {
          await model.drain();
          responses.splice(0).forEach((respond) => respond());
        }
        await Promise.all(turns);
        for (const { messages } of model.asked) expect(historyFault(messages)).toBeNull();
        expect(
          store
            .messages()
            .filter(({ role }) => role === 'user')
            .map(({ text }) => text),
        ).toEqual(said);
        const { owesAnswer, end } = store.state()!;
        expect(owesAnswer).toBe(false);
        expect([undefined, 'error']).toContain(end?.reason);
        if (!script.some((given) => typeof given === 'object' && given.failure)) expect(end).toBeNull();
        expect(store.messages().findLast(({ role, text }) => role !== 'tool' && text !== '')!.role).toBe('assistant');
        // The same call never goes out twice.
        expect(responses).toEqual([]);
        const ids = store.messages().flatMap(({ toolCalls }) => toolCalls?.map(({ id }) => id) ?? []);
        expect(new Set(ids).size).toBe(ids.length);
        const answered = store.messages().flatMap(({ toolCallId }) => toolCallId ?? []);
        expect(new Set(answered).size).toBe(answered.length);
      },
    ),
    { numRuns: 150 },
  );
});

describe('cutting utterances', () => {
  test.each<[string[], string, string[]]>([
    [['Hello there. How are you?'], 'Hello there.', ['Hello there.']],
    [['Hello there'], 'hello   There', ['Hello there']],
    [['One moment.', 'It costs five euros a month.'], 'It costs five', ['One moment.', 'It costs five']],
    [['One moment.', 'It costs five.'], 'One mo', ['One mo', '']],
    [['One moment.', 'It costs five.'], 'One moment. It costs', ['One moment.', 'It costs']],
    [['One moment.', 'It costs five.'], '', ['One moment.', '']],
    [['It costs $5 a month'], 'It costs five dollars', ['It costs $5 a']],
    [['Yes', 'No'], 'Perhaps I could ask you something else', ['Yes', 'No']],
    [[], 'Hello', []],
  ])('of %j, by %j, is %j', (utterances, spokenText, left) => {
    expect(cutUtterances(utterances, spokenText)).toEqual(left);
  });

  const words = fc.array(fc.stringMatching(/^[a-z]{1,6}[.,]?$/), { minLength: 1, maxLength: 8 }).map((all) => all.join(' '));

  test('is the beginning of what was said, wherever the hearing ended', () => {
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), fc.nat(), (utterances, position) => {
        const whole = utterances.join(' ');
        const spokenText = whole.slice(0, 1 + (position % whole.length)).trim();
        const left = cutUtterances(utterances, spokenText);
        expect(left.join(' ').replace(/\s+/g, ' ').trim()).toBe(spokenText);
        expect(
          cutUtterances(
            left.filter((text) => text !== ''),
            spokenText,
          ),
        ).toEqual(left.filter((text) => text !== ''));
      }),
    );
  });

  test('is never more than what was said', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 4 }), fc.string(), (utterances, spokenText) => {
        const left = cutUtterances(utterances, spokenText);
        expect(left).toHaveLength(utterances.length);
        expect(left.every((text, index) => utterances[index]!.startsWith(text))).toBe(true);
      }),
    );
  });
});
