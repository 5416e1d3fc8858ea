import { describe, expect, test } from 'vitest';
import { parseAgentDefinition, parseWebhookData, validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { findDefinitionWarnings } from '../../src/voice-agents/definition/warnings.ts';
import { newOrganization } from '../support/organization.ts';
import { begin, startedAt } from './begin.ts';
import { FakeModel } from './fake-model.ts';

const blank = {
  is_static: false,
  wait_for_user_response: false,
  wait_for_user_response_timeout: null,
  tool_uuids: null,
  document_uuids: null,
};

/** In the shape of a definition that Dograh's editor exports, with every kind of node. */
const dograh = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position: { x: 120, y: 80 },
      measured: { width: 300, height: 120 },
      data: {
        ...blank,
        name: 'Start call',
        prompt: 'You are Sarah of Acme. Ask {{first_name}} about the demo.',
        is_start: true,
        greeting_type: 'text',
        greeting: 'Hi {{first_name}}, this is Sarah from Acme.',
        greeting_recording_id: null,
        allow_interrupt: false,
        add_global_prompt: true,
        extraction_enabled: false,
        extraction_prompt: '',
        extraction_variables: null,
        detect_voicemail: false,
        delayed_start: true,
        delayed_start_duration: 1.5,
        pre_call_fetch_enabled: false,
        invalid: false,
        validationMessage: null,
      },
    },
    {
      id: '2',
      type: 'agentNode',
      position: { x: 120, y: 300 },
      data: {
        ...blank,
        name: 'Qualify',
        prompt: 'Find out how many people they are.',
        allow_interrupt: true,
        add_global_prompt: true,
        extraction_enabled: true,
        extraction_prompt: 'Take what was said.',
        extraction_variables: [{ name: 'team_size', type: 'number', prompt: 'how many people' }],
        tool_uuids: ['3f0e5f5e-7a0c-4b53-9d55-7d1c9a4dd1a1'],
        wait_for_user_response: true,
        detect_voicemail: false,
        delayed_start: false,
        delayed_start_duration: null,
      },
    },
    { id: '3', type: 'endCall', position: { x: 520, y: 300 }, data: { ...blank, name: 'End', prompt: 'Say goodbye.', is_end: true } },
    {
      id: '4',
      type: 'globalNode',
      position: { x: 700, y: 0 },
      data: { ...blank, name: 'Global', prompt: 'Be brief.', allow_interrupt: false },
    },
    { id: '5', type: 'trigger', position: { x: 0, y: 0 }, data: { name: 'API', enabled: true, trigger_path: '6f9d' } },
    {
      id: '6',
      type: 'webhook',
      position: { x: 900, y: 0 },
      data: {
        name: 'Notify CRM',
        enabled: true,
        http_method: 'PUT',
        endpoint_url: 'https://crm.example.com/calls',
        credential_uuid: null,
        custom_headers: [
          { key: 'Authorization', value: 'Bearer canary-crm' },
          { key: 'X-Source', value: 'voice' },
        ],
        payload_template: { outcome: '{{gathered_context.call_disposition}}' },
        retry_config: { enabled: true, max_retries: 3, retry_delay_seconds: 5 },
      },
    },
    {
      id: '7',
      type: 'webhook',
      position: { x: 900, y: 90 },
      data: { name: 'Off', enabled: false, http_method: 'POST', endpoint_url: null },
    },
    {
      id: '8',
      type: 'qa',
      position: { x: 900, y: 200 },
      data: { name: 'QA', qa_enabled: true, qa_model: 'default', qa_api_key: 'canary-qa' },
    },
  ],
  edges: [
    { id: '5-1', source: '5', target: '1' },
    { id: '1-2', source: '1', target: '2', data: { label: 'interested', condition: 'they want to hear more', invalid: false } },
    { id: '1-3', source: '1', target: '3', data: { label: 'not interested', condition: 'they do not', transition_speech: 'I see.' } },
    { id: '2-3', source: '2', target: '3', data: { label: 'done', condition: 'they told their number' } },
  ],
  viewport: { x: 0, y: 0, zoom: 1 },
};

describe('a definition made for Dograh', () => {
  test('is sound, and what has no effect here is warned of', () => {
    expect(validateAgentDefinition(dograh)).toEqual([]);
    expect(findDefinitionWarnings(dograh).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg.split(/[:;,]/)[0]}`)).toEqual([
      'nodes.2.data.wait_for_user_response: Has no effect',
      'nodes.2.data.tool_uuids: Has no effect',
      'nodes.5: A trigger node has no effect',
      'nodes.6.data.retry_config: Has no effect',
      'nodes.8: A qa node has no effect',
    ]);
  });

  test('is read by our names: the webhook, the lists that are null, the nodes that are walked', () => {
    const { talkNodes, webhooks, globalPrompt, edges } = parseAgentDefinition(dograh);
    expect([...talkNodes.keys()]).toEqual(['1', '2', '3']);
    expect(talkNodes.get('1')!.data).toMatchObject({
      document_uuids: [],
      extraction_variables: [],
      delayed_start: true,
      delayed_start_duration: 1.5,
      detect_voicemail: false,
    });
    expect(talkNodes.get('2')!.data).not.toHaveProperty('delayed_start');
    expect(globalPrompt).toBe('Be brief.');
    expect(edges.map(({ id }) => id)).toEqual(['1-2', '1-3', '2-3']);
    expect(webhooks.map(({ id }) => id)).toEqual(['6']);
    expect(parseWebhookData(webhooks[0]!.data)).toMatchObject({
      method: 'PUT',
      url: 'https://crm.example.com/calls',
      headers: { Authorization: 'Bearer canary-crm', 'X-Source': 'voice' },
      body: { outcome: '{{gathered_context.call_disposition}}' },
    });
  });

  test('is stored as it is, its secrets masked, and keeps them when it is sent back', async () => {
    const { client } = await newOrganization();
    const created = await client.post('/workflow/create/definition', { name: 'Imported', workflow_definition: dograh });
    expect(created.body.issues).toEqual([]);
    expect(JSON.stringify(created.body)).not.toContain('canary');
    const { workflow_definition } = created.body;
    expect(workflow_definition.nodes[5].data.custom_headers).toEqual([
      { key: 'Authorization', value: '****' },
      { key: 'X-Source', value: '****' },
    ]);
    const sent = await client.put(`/workflow/${created.body.id}`, { workflow_definition });
    expect(sent.body).toMatchObject({ current_definition_id: created.body.current_definition_id, issues: [] });
    expect(
      (await client.post(`/workflow/${created.body.id}/runs`, { mode: 'textchat', initial_context: { first_name: 'Ada' } })).status,
    ).toBe(200);
  });

  test('with a webhook without an address gets an issue', () => {
    const nodes = dograh.nodes.map((node) => (node.id === '6' ? { ...node, data: { ...node.data, endpoint_url: null } } : node));
    expect(validateAgentDefinition({ ...dograh, nodes }).map(({ loc }) => loc.slice(2).join('.'))).toEqual(['nodes.6.data.url']);
  });
});

describe('delayed_start', () => {
  const definition = (data: object) => ({
    nodes: [{ id: 's', type: 'startCall', data: { prompt: 'Talk.', greeting: 'Hello.', delayed_start: true, ...data } }],
    edges: [],
  });
  const spoken = { millisecondsPerCharacter: 65 };

  test.each([
    [{}, 2_000],
    [{ delayed_start_duration: 0.4 }, 400],
    [{ delayed_start: false }, 0],
  ])('holds the greeting back for its seconds: %j', async (data, milliseconds) => {
    const slept: number[] = [];
    const world = { sleep: async (time: number) => void slept.push(time) };
    const talk = begin(new FakeModel('Yes?'), { definition: definition(data), setup: spoken, world });
    expect(await talk.conversation.start()).toMatchObject({ said: ['Hello.'] });
    expect(slept.reduce((sum, time) => sum + time, 0)).toBe(milliseconds);
  });

  test('gives way to a person who speaks first, and holds back nothing that is read', async () => {
    const held = Promise.withResolvers<void>();
    const talk = begin(new FakeModel('Yes, hello?'), { definition: definition({}), setup: spoken, world: { sleep: () => held.promise } });
    const start = talk.conversation.start();
    expect(await talk.conversation.userTurn('Hello?')).toMatchObject({ said: ['Yes, hello?'] });
    held.resolve();
    expect(await start).toMatchObject({ status: 'superseded', said: [] });
    expect(talk.utterances).toEqual(['Yes, hello?']);
    const read = begin(new FakeModel('x'), { definition: definition({}), world: { sleep: () => new Promise(() => {}) } });
    expect(await read.conversation.start()).toMatchObject({ said: ['Hello.'] });
  });

  test('after a crash waits only for what is left', async () => {
    const first = begin(new FakeModel('x'), { definition: definition({}), setup: spoken, world: { sleep: () => new Promise(() => {}) } });
    void first.conversation.start();
    const slept: number[] = [];
    const world = { sleep: async (time: number) => void slept.push(time), now: () => startedAt + 1_500 };
    const second = begin(new FakeModel('x'), { definition: definition({}), setup: spoken, world, store: first.store });
    expect(await second.conversation.resume()).toMatchObject({ said: ['Hello.'] });
    expect(slept).toEqual([500]);
  });

  test('is at most ten seconds', () => {
    expect(validateAgentDefinition(definition({ delayed_start_duration: 11 })).map(({ loc }) => loc.at(-1))).toEqual([
      'delayed_start_duration',
    ]);
  });
});
