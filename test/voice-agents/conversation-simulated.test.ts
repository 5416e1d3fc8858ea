import { describe, expect, test } from 'vitest';
import { defaultPhrases } from '../../src/voice-agents/conversation/phrases.ts';
import { salesAgent } from './agents.ts';
import { answer, begin, type Options } from './begin.ts';
import { simulatedModel } from './simulated-model.ts';

async function talkWith(lines: string[], options: Options = {}) {
  const { model, bodies } = simulatedModel();
  const talk = begin(model, options);
  const outcomes = [await talk.conversation.start()];
  for (const line of lines) outcomes.push(await talk.conversation.userTurn(line));
  return { ...talk, bodies, outcomes, end: outcomes.at(-1)!.end };
}

describe('with the simulated provider', () => {
  test('somebody who is interested books a day', async () => {
    const { conversation, utterances, end, bodies } = await talkWith(['Yes, I am interested', 'Tuesday would be fine']);
    expect(end).toBe('end_node');
    expect(utterances).toEqual([
      'Hello Ada, this is Acme about the spring offer. Are you interested?',
      'Which day suits you?',
      'Thank you, goodbye.',
    ]);
    const conclusion = await conversation.conclude();
    expect(conclusion).toMatchObject({ disposition: 'interested', sentiment: expect.any(String), summary: expect.any(String) });
    expect(conversation.state).toMatchObject({ nodesVisited: ['start', 'book', 'bye'], extracted: { preferred_day: 'Tuesday' } });
    expect(conversation.state!.usage.prompt_tokens).toBeGreaterThan(100);
    expect(bodies.every(({ stream, reasoning_effort: effort }) => !stream || effort === 'none')).toBe(true);
  });

  test('somebody who is not is let go', async () => {
    const { conversation, end } = await talkWith(['No, I am not interested']);
    expect(end).toBe('end_node');
    expect(conversation.state!.nodesVisited).toEqual(['start', 'bye']);
    expect(await conversation.conclude()).toMatchObject({ disposition: 'not_interested' });
  });

  test('the agent answers a goodbye with a goodbye', async () => {
    const { end, outcomes } = await talkWith(['Goodbye']);
    expect(end).toBe('end_call');
    expect(outcomes.at(-1)!.said).toHaveLength(1);
  });

  test('a tool is called with what was said, and the agent says its answer', async () => {
    const tools = [
      {
        name: 'opening_hours',
        description: 'When the shop is open on a day',
        parameters: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
        http: { method: 'GET', url: 'https://example.com/hours' },
      },
    ];
    const definition = { nodes: [{ id: 'start', type: 'startCall', data: { prompt: 'You are Ada.', greeting: 'Hi', tools } }], edges: [] };
    const sent: string[] = [];
    const { outcomes } = await talkWith(['When is the shop open on Tuesday?'], {
      definition,
      world: {
        sendHttp: async (request) => {
          sent.push(request.url);
          return answer({ hours: 'We are open from nine to five.' });
        },
      },
    });
    expect(sent).toEqual(['https://example.com/hours?day=Tuesday']);
    expect(outcomes.at(-1)!.said).toEqual(['We are open from nine to five.']);
  });

  test('a provider that is down ends the call with an apology', async () => {
    const { end, utterances } = await talkWith(['SIM_ERROR_500']);
    expect([end, utterances.at(-1)]).toEqual(['error', defaultPhrases.apology]);
  });

  test('an interrupt ends the question that is under way, and the next is answered', async () => {
    const { model } = simulatedModel();
    const { conversation, history } = begin(model);
    await conversation.start();
    const first = conversation.userTurn('SIM_SLOW_20 hello');
    await new Promise((resolve) => setTimeout(resolve, 1));
    const second = conversation.userTurn('Yes');
    expect([(await first).status, (await second).status]).toEqual(['superseded', 'answered']);
    expect(history().filter((line) => line.startsWith('user'))).toHaveLength(2);
  });

  test('two agents that talk to each other come to an end or to the limit of turns, each turn with words', async () => {
    const actor = begin(simulatedModel().model);
    const adversary = begin(simulatedModel().model, { definition: salesAgent, setup: { key: 'run-8' } });
    await actor.conversation.start();
    let said = (await adversary.conversation.start()).said.join(' ');
    let turns = 0;
    for (const [speaker, listener] = [actor, adversary]; turns < 20; turns++) {
      const outcome = await (turns % 2 === 0 ? speaker : listener).conversation.userTurn(said);
      expect(outcome.said.join(' ')).not.toBe('');
      said = outcome.said.join(' ');
      if (outcome.end) break;
    }
    expect(turns).toBeGreaterThan(0);
  });
});
