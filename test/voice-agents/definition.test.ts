import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAgentDefinition, parseWebhookData, validateAgentDefinition } from '../../src/voice-agents/definition/definition.ts';
import { toolNamePattern, toToolName } from '../../src/voice-agents/definition/tool-rules.ts';
import { salesAgent } from './agents.ts';

interface Node {
  id: string;
  type: string;
  data: Record<string, any>;
}
interface Edge {
  id: string;
  source: string;
  target: string;
  data: Record<string, any>;
}
interface Graph {
  nodes: Node[];
  edges: Edge[];
}

const places = (definition: unknown) => validateAgentDefinition(definition).map(({ loc }) => loc.slice(2).join('.'));
const listProblems = (definition: unknown) =>
  validateAgentDefinition(definition).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`);

const tool = {
  name: 'find_order',
  description: 'Finds an order',
  parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
  http: { method: 'GET', url: 'https://example.com/orders/{{ arguments.number }}' },
};
const edge = (id: string, source: string, target: string, data: object = {}): Edge => ({
  id,
  source,
  target,
  data: { label: `go ${id}`, condition: `the person wants ${id}`, ...data },
});
const node = (id: string, type: string, data: object = {}): Node => ({ id, type, data: { prompt: `You are at ${id}.`, ...data } });

test('a small sales agent is valid, and is read with every default filled in', () => {
  expect(validateAgentDefinition(salesAgent)).toEqual([]);
  const { startNodeId, talkNodes, globalPrompt, webhooks, edges } = parseAgentDefinition(salesAgent);
  expect([startNodeId, [...talkNodes.keys()], globalPrompt, webhooks, edges.length]).toEqual([
    'start',
    ['start', 'book', 'bye'],
    null,
    [],
    3,
  ]);
  expect(talkNodes.get('book')).toMatchObject({
    type: 'agentNode',
    data: { allow_interrupt: true, add_global_prompt: true, tools: [], knowledge_base: false, document_uuids: [] },
  });
});

test('an agent with everything is valid', () => {
  const full = {
    nodes: [
      {
        ...node('start', 'startCall', { name: 'Hello', greeting: 'Hi', allow_interrupt: false, knowledge_base: true }),
        position: { x: 0, y: 0 },
        width: 5,
      },
      node('ask', 'agentNode', {
        add_global_prompt: false,
        extraction_enabled: true,
        extraction_prompt: 'Look closely at what {{ first_name }} says',
        extraction_variables: [
          { name: 'day', prompt: 'the day' },
          { name: 'people', type: 'number' },
          { name: 'is_member', type: 'boolean' },
        ],
        document_uuids: ['5a8a4f4e-32d0-4d2c-8d2a-8fbb4ff52c6f'],
        tools: [
          tool,
          {
            ...tool,
            name: 'book-it',
            parameters: undefined,
            http: { url: 'https://example.com/', headers: { 'x-key': 'k' }, body: { a: ['{{ day }}'] } },
          },
        ],
      }),
      node('bye', 'endCall', { extraction_enabled: false, extraction_variables: [{ name: 'day', type: 'string' }] }),
      node('all', 'globalNode'),
      {
        id: 'after',
        type: 'webhook',
        data: { url: 'https://example.com/{{ summary }}', headers: { authorization: 'Bearer x' }, body: { day: '{{ day }}' } },
      },
    ],
    edges: [
      edge('a', 'start', 'ask', { transition_speech: 'One moment, {{ first_name }}' }),
      edge('b', 'ask', 'ask'),
      { ...edge('c', 'ask', 'bye'), type: 'smooth', sourceHandle: null },
      edge('end call', 'start', 'bye', { label: 'End call' }),
    ],
    viewport: { zoom: 1 },
  };
  expect(listProblems(full)).toEqual([]);
  const { globalPrompt, webhooks, talkNodes } = parseAgentDefinition(full);
  expect([globalPrompt, parseWebhookData(webhooks[0]!.data).method]).toEqual(['You are at all.', 'POST']);
  expect(talkNodes.get('ask')!.data.tools.map(({ parameters }) => parameters['type'])).toEqual(['object', 'object']);
});

test('what is no definition at all is said so', () => {
  expect(places(null)).toEqual(['']);
  expect(places([])).toEqual(['']);
  expect(places({})).toEqual(['nodes', 'edges']);
  expect(places({ nodes: [], edges: {} })).toEqual(['edges']);
  expect(places({ nodes: [], edges: [] })).toEqual(['nodes']);
});

test('a broken definition has one item per problem', () => {
  const broken = {
    nodes: [{ id: 'a', type: 'agentNode', data: { prompt: 'x' } }],
    edges: [{ id: 'e', source: 'a', target: 'ghost', data: {} }],
  };
  expect(places(broken)).toEqual(['edges.e.data.label', 'edges.e.data.condition', 'nodes', 'edges.e.target']);
});

/** A tree from the start, each node hung on an earlier one that does not end, and edges back. */
const validGraph: fc.Arbitrary<Graph> = fc
  .record({
    types: fc.array(fc.constantFrom('agentNode', 'agentNode', 'endCall'), { minLength: 1, maxLength: 15 }),
    choices: fc.infiniteStream(fc.nat({ max: 1_000_000 })),
    hasGlobal: fc.boolean(),
  })
  .map(({ types, choices, hasGlobal }) => {
    const choose = <Item>(items: readonly Item[]): Item => items[(choices.next().value as number) % items.length]!;
    const nodes = [node('start', 'startCall', { greeting: 'Hello {{ first_name | default: "there" }}' })];
    const edges: Edge[] = [];
    for (const type of types) {
      const from = choose(nodes.filter((one) => one.type !== 'endCall'));
      nodes.push(node(`n${nodes.length}`, type));
      edges.push(edge(`e${edges.length}`, from.id, nodes.at(-1)!.id));
    }
    const back = nodes.filter(({ type }) => type === 'agentNode');
    if (back.length > 0) edges.push(edge(`e${edges.length}`, choose(back).id, choose(back).id));
    if (hasGlobal) nodes.push(node('global', 'globalNode'), { id: 'hook', type: 'webhook', data: { url: 'https://example.com/' } });
    return { nodes, edges };
  });

test('every valid graph passes, and is read as it is', () => {
  fc.assert(
    fc.property(validGraph, (graph) => {
      expect(listProblems(graph)).toEqual([]);
      const { talkNodes, edges } = parseAgentDefinition(graph);
      expect(talkNodes.size).toBe(graph.nodes.filter(({ type }) => type !== 'globalNode' && type !== 'webhook').length);
      expect(edges).toEqual(graph.edges);
    }),
  );
});

/** Each spoils one thing and says which place must be named. */
const defects: Record<string, (graph: Graph, choose: <Item>(items: readonly Item[]) => Item) => string> = {
  'no start'({ nodes, edges }) {
    edges.splice(0, edges.length, ...edges.filter(({ source }) => source !== 'start'));
    nodes.shift();
    return 'nodes';
  },
  'a second start'({ nodes }) {
    nodes.push(node('again', 'startCall'));
    return 'nodes.again';
  },
  'a second global node'({ nodes }) {
    nodes.push(node('one', 'globalNode'), node('two', 'globalNode'));
    return 'nodes.two';
  },
  'an edge to a global node'({ nodes, edges }) {
    nodes.push(node('everywhere', 'globalNode'));
    edges.push(edge('x', 'start', 'everywhere'));
    return 'edges.x.target';
  },
  'an edge out of a webhook'({ nodes, edges }) {
    nodes.push({ id: 'after', type: 'webhook', data: { url: 'https://example.com/' } });
    edges.push(edge('x', 'after', nodes[1]!.id));
    return 'edges.x.source';
  },
  'an edge out of an end'({ nodes, edges }) {
    nodes.push(node('over', 'endCall'));
    edges.push(edge('x', 'start', 'over'), edge('y', 'over', nodes[1]!.id));
    return 'edges.y.source';
  },
  'an edge back to the start'({ nodes, edges }) {
    nodes.push(node('back', 'agentNode'));
    edges.push(edge('x', 'start', 'back'), edge('y', 'back', 'start'));
    return 'edges.y.target';
  },
  'a missing target'({ edges }, choose) {
    const one = choose(edges);
    one.target = 'ghost';
    return `edges.${one.id}.target`;
  },
  'a missing source'({ edges }, choose) {
    const one = choose(edges);
    one.source = 'ghost';
    return `edges.${one.id}.source`;
  },
  'a node that nothing leads to'({ nodes }) {
    nodes.push(node('island', 'agentNode'));
    return 'nodes.island';
  },
  'two edges with one name'({ edges }, choose) {
    const one = choose(edges);
    edges.push({ ...one, id: 'x', data: { ...one.data, label: `${one.data.label.toUpperCase()}!` } });
    return 'edges.x.data.label';
  },
  'an edge with the name of a tool'({ nodes, edges }) {
    nodes[0]!.data = { ...nodes[0]!.data, tools: [tool] };
    edges.push(edge('x', 'start', nodes[1]!.id, { label: 'Find order' }));
    return 'nodes.start.data.tools.0.name';
  },
  'a label without letters'({ edges }, choose) {
    const one = choose(edges);
    one.data.label = 'はい';
    return `edges.${one.id}.data.label`;
  },
  'an empty condition'({ edges }, choose) {
    const one = choose(edges);
    one.data.condition = '  ';
    return `edges.${one.id}.data.condition`;
  },
  'an unknown type'({ nodes }, choose) {
    const one = choose(nodes.slice(1));
    one.type = 'agent';
    return `nodes.${one.id}.type`;
  },
  'an empty prompt'({ nodes }, choose) {
    const one = choose(nodes.filter(({ type }) => type !== 'webhook'));
    one.data = { ...one.data, prompt: ' ' };
    return `nodes.${one.id}.data.prompt`;
  },
  'a template that does not parse'({ nodes }, choose) {
    const one = choose(nodes.filter(({ type }) => type !== 'webhook'));
    one.data = { ...one.data, prompt: 'Hello {{ first_name' };
    return `nodes.${one.id}.data.prompt`;
  },
  'a template of an edge that does not parse'({ edges }, choose) {
    const one = choose(edges);
    one.data.transition_speech = '{% if %}';
    return `edges.${one.id}.data.transition_speech`;
  },
  'a repeated node id'({ nodes }, choose) {
    const one = choose(nodes);
    nodes.push({ ...one });
    return `nodes.${one.id}`;
  },
  'a repeated edge id'({ edges }, choose) {
    const one = choose(edges);
    edges.push({ ...one });
    return `edges.${one.id}`;
  },
  'a variable that is extracted twice'({ nodes }) {
    nodes[0]!.data = { ...nodes[0]!.data, extraction_variables: [{ name: 'day' }, { name: 'day', type: 'number' }] };
    return 'nodes.start.data.extraction_variables.1.name';
  },
  'a variable with two types'({ nodes, edges }) {
    nodes[0]!.data = { ...nodes[0]!.data, extraction_variables: [{ name: 'day' }] };
    nodes.push(node('more', 'agentNode', { extraction_variables: [{ name: 'day', type: 'number' }] }));
    edges.push(edge('x', 'start', 'more'));
    return 'nodes.more.data.extraction_variables.0.type';
  },
};

test.each(Object.keys(defects))('%s is reported by the name of the culprit', (name) => {
  fc.assert(
    fc.property(validGraph, fc.nat(), (graph, chosen) => {
      const copy = structuredClone(graph);
      const culprit = defects[name]!(copy, (items) => items[chosen % items.length]!);
      expect(places(copy)).toContain(culprit);
    }),
    { numRuns: 30 },
  );
});

test('one fault of a node is reported once', () => {
  const problems = (data: object) => places({ nodes: [node('start', 'startCall', data)], edges: [] });
  expect(problems({ prompt: 5 })).toEqual(['nodes.start.data.prompt']);
  expect(problems({ extraction_enabled: true })).toEqual(['nodes.start.data.extraction_variables']);
  expect(problems({ document_uuids: ['handbook'] })).toEqual(['nodes.start.data.document_uuids.0']);
  for (const name of ['call_disposition', '__proto__', '9a', 'a-b', 'größe'])
    expect(problems({ extraction_variables: [{ name }] }), name).toEqual(['nodes.start.data.extraction_variables.0.name']);
  expect(places({ nodes: [{ id: 'start', type: 'startCall' }], edges: [] })).toEqual(['nodes.start.data']);
  expect(places({ nodes: [{ type: 'startCall', data: { prompt: 'x' } }], edges: [] })).toEqual(['nodes.0.id', 'nodes']);
});

describe('a tool', () => {
  const problems = (change: object) =>
    listProblems({ nodes: [node('start', 'startCall', { tools: [{ ...tool, ...change }] })], edges: [] }).join('\n');

  test('is called at a public address, with headers that a request may have', () => {
    expect(problems({})).toBe('');
    for (const url of ['ftp://example.com', '/orders', 'https://user:secret@example.com/'])
      expect(problems({ http: { url } }), url).toContain('nodes.start.data.tools.0.http.url: Must be an absolute http:// or https:// URL');
    expect(problems({ http: { url: 'https://example.com/{{ arguments.number' } })).toContain('nodes.start.data.tools.0.http.url: Template');
    expect(problems({ http: { url: 'https://example.com/', headers: { host: 'x' } } })).toContain('tools.0.http.headers.host:');
    expect(problems({ http: { url: 'https://example.com/', retries: 1 } })).toBe('');
    expect(problems({ http: undefined })).toContain('tools.0.http:');
  });

  test('has parameters that are a sound JSON Schema of an object', () => {
    expect(problems({ parameters: { type: 'objekt' } })).toContain('tools.0.parameters.type: Must be one of');
    expect(problems({ parameters: { type: 'array' } })).toContain(
      'tools.0.parameters.type: The root of parameters must have "type": "object"',
    );
    expect(problems({ parameters: { type: 'object', properties: { a: { $ref: '#/$defs/b' } } } })).toContain(
      'parameters.properties.a.$ref:',
    );
    expect(problems({ parameters: { type: 'object', properties: { a: { pattern: '(?=a)a' } } } })).toContain(
      'parameters.properties.a.pattern:',
    );
  });

  test('has a name that a model takes and that is free', () => {
    for (const name of ['find order', '', 'x'.repeat(65), 'end_call', 'search_knowledge_base'])
      expect(problems({ name }), name).toContain('nodes.start.data.tools.0.name:');
    const twice = { nodes: [node('start', 'startCall', { tools: [tool, tool] })], edges: [] };
    expect(listProblems(twice)).toEqual([expect.stringContaining('nodes.start.data.tools.1.name: Tool 1 has the tool name "find_order"')]);
  });

  test('a brace in what is not rendered is only a brace', () => {
    expect(problems({ description: 'Finds {{ an order', parameters: { type: 'object', description: '{{' } })).toBe('');
  });
});

test('sizes are bounded, and the bound is named', () => {
  const many = { nodes: Array.from({ length: 201 }, (_, index) => node(`n${index}`, 'agentNode')), edges: [] };
  expect(listProblems(many)).toEqual([expect.stringContaining('at most 200 nodes, this one 201')]);
  const wide = { nodes: [], edges: Array.from({ length: 2001 }, (_, index) => edge(`e${index}`, 'a', 'b')) };
  expect(listProblems(wide)).toEqual([expect.stringContaining('at most 2000 edges')]);
  const prompt = 'ä'.repeat(90_000);
  const long = { nodes: [node('start', 'startCall'), ...['a', 'b', 'c'].map((id) => node(id, 'agentNode', { prompt }))], edges: [] };
  expect(listProblems(long)).toEqual([expect.stringContaining('at most 524288 bytes')]);
  const crowded = {
    nodes: [node('start', 'startCall'), node('a', 'agentNode')],
    edges: Array.from({ length: 101 }, (_, index) => edge(`e${index}`, 'start', 'a')),
  };
  expect(listProblems(crowded)).toEqual([expect.stringContaining('nodes.start: A node has at most 100 edges and tools')]);
});

test('a graph of the largest size is valid', () => {
  const nodes = [node('start', 'startCall'), ...Array.from({ length: 199 }, (_, index) => node(`n${index}`, 'agentNode'))];
  const edges = Array.from({ length: 2000 }, (_, index) =>
    edge(`e${index}`, index < 50 ? 'start' : `n${(index * 7) % 199}`, `n${index % 199}`),
  );
  expect(validateAgentDefinition({ nodes, edges })).toEqual([]);
});

test('the name of a tool comes from the letters of its label', () => {
  expect(['Interested!', 'not interested', 'Ja, möchte', '  2nd  choice ', 'どうぞ'].map(toToolName)).toEqual([
    'interested',
    'not_interested',
    'ja_mochte',
    '2nd_choice',
    '',
  ]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), (label) => {
      const name = toToolName(label);
      expect(name === '' || name.length > 64 || toolNamePattern.test(name)).toBe(true);
      expect(toToolName(name)).toBe(name);
    }),
  );
});

test('an agent whose secrets are sealed can be read', () => {
  const secret = `sealed:${'x'.repeat(60)}`;
  const hook = { id: 'after', type: 'webhook', data: { url: 'https://example.com/', secret, headers: { authorization: secret } } };
  const tools = [{ ...tool, http: { ...tool.http, headers: { 'x-api-key': secret } } }];
  const { webhooks, talkNodes } = parseAgentDefinition({ nodes: [node('start', 'startCall', { tools }), hook], edges: [] });
  expect([webhooks[0]!.data['secret'], talkNodes.get('start')!.data.tools[0]!.http!.headers]).toEqual([secret, { 'x-api-key': secret }]);
});
