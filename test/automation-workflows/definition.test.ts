import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxNodes, parseDefinition, validateGraph } from '../../src/automation-workflows/definitions/definition.ts';
import { nodeTypes } from '../../src/automation-workflows/nodes/registry.ts';

interface Node {
  id: string;
  type: string;
  data: Record<string, unknown>;
}
interface Edge {
  id: string;
  source: string;
  target: string;
  source_handle?: string;
}
interface Graph {
  nodes: Node[];
  edges: Edge[];
}

const places = (definition: unknown) => validateGraph(definition, nodeTypes).map((issue) => issue.loc.slice(2).join('.'));
const messages = (definition: unknown) => validateGraph(definition, nodeTypes).map((issue) => issue.msg);
const node = (id: string, type: string, data = nodeTypes.get(type)?.example ?? {}): Node => ({ id, type, data });
const handlesOf = ({ type, data }: Node) => nodeTypes.get(type)!.handles(data);

/**
 * A tree from the trigger, each node attached to a free handle of an earlier one, with some edges added: forward edges from any node,
 * backward edges only from waits.
 */
const validGraph: fc.Arbitrary<Graph> = fc
  .record({
    types: fc.array(fc.constantFrom(...[...nodeTypes.keys()].filter((type) => type !== 'trigger')), { minLength: 1, maxLength: 25 }),
    choices: fc.infiniteStream(fc.nat({ max: 1_000_000 })),
  })
  .map(({ types, choices }) => {
    const choose = <Item>(items: readonly Item[]): Item => items[(choices.next().value as number) % items.length]!;
    const nodes = [node('start', 'trigger')];
    const edges: Edge[] = [];
    const free = handlesOf(nodes[0]!).map((handle) => ({ source: 0, handle }));
    const connect = (from: { source: number; handle: string }, target: number) => {
      free.splice(free.indexOf(from), 1);
      edges.push({ id: `e${edges.length}`, source: nodes[from.source]!.id, target: nodes[target]!.id, source_handle: from.handle });
    };
    for (const type of types) {
      if (free.length === 0) break;
      const added = node(`n${nodes.length}`, type);
      nodes.push(added);
      connect(choose(free), nodes.length - 1);
      free.push(...handlesOf(added).map((handle) => ({ source: nodes.length - 1, handle })));
    }
    for (const place of free.slice(0, 5)) {
      const targets = nodes.flatMap((one, index) =>
        index > 0 && (index > place.source || nodes[place.source]!.type === 'wait') ? [index] : [],
      );
      if (targets.length > 0) connect(place, choose(targets));
    }
    return { nodes, edges };
  });

test('every valid graph passes, and is parsed without a change', () => {
  fc.assert(
    fc.property(validGraph, (graph) => {
      expect(validateGraph(graph, nodeTypes)).toEqual([]);
      expect(parseDefinition(graph).nodes.map(({ id }) => id)).toEqual(graph.nodes.map(({ id }) => id));
    }),
    { numRuns: 300 },
  );
});

/** Each case breaks one thing, and gives the place that the issue must name. */
const defects: Record<string, (graph: Graph, choose: <Item>(items: readonly Item[]) => Item) => string> = {
  'no trigger'({ nodes, edges }) {
    edges.splice(0, edges.length, ...edges.filter((edge) => edge.source !== 'start'));
    nodes.shift();
    return 'nodes';
  },
  'a second trigger'({ nodes }) {
    nodes.push(node('again', 'trigger'));
    return 'nodes.again';
  },
  'an edge to the trigger'({ nodes, edges }) {
    nodes.push(node('back', 'wait'));
    edges.push({ id: 'x', source: 'back', target: 'start' });
    return 'edges.x.target';
  },
  'an unknown type'({ nodes }, choose) {
    const one = choose(nodes.slice(1));
    one.type = 'no_such_node';
    return `nodes.${one.id}.type`;
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
  'an unknown handle'({ edges }, choose) {
    const one = choose(edges);
    one.source_handle = 'sideways';
    return `edges.${one.id}.source_handle`;
  },
  'two edges at one handle'({ edges }, choose) {
    const one = choose(edges);
    edges.push({ ...one, id: 'x' });
    return 'edges.x.source_handle';
  },
  'an unreachable node'({ nodes }) {
    nodes.push(node('island', 'exit'));
    return 'nodes.island';
  },
  'data of the wrong shape'({ nodes }, choose) {
    const one = choose(nodes);
    (one as { data: unknown }).data = ['no object'];
    return `nodes.${one.id}.data`;
  },
  'a template that does not parse'({ nodes, edges }) {
    nodes.push(node('broken', 'set_context', { assign: { a: { b: ['{{ x'] } } }));
    const last = edges.at(-1)!;
    nodes.splice(0, nodes.length, ...nodes);
    edges.push({ id: 'x', source: 'broken', target: last.target });
    last.target = 'broken';
    return 'nodes.broken.data.assign.a.b.0';
  },
  'a loop without a wait'({ nodes, edges }) {
    const last = edges.at(-1)!;
    nodes.push(node('loop1', 'condition'), node('loop2', 'set_context'));
    edges.push(
      { id: 'x', source: 'loop1', target: 'loop2', source_handle: 'true' },
      { id: 'y', source: 'loop2', target: 'loop1' },
      { id: 'z', source: 'loop1', target: last.target, source_handle: 'false' },
    );
    last.target = 'loop1';
    return 'nodes.loop1';
  },
};

test.each(Object.keys(defects))('%s is reported by the name of the culprit', (name) => {
  fc.assert(
    fc.property(validGraph, fc.nat(), (graph, chosen) => {
      const copy = structuredClone(graph);
      const culprit = defects[name]!(copy, (items) => items[chosen % items.length]!);
      expect(places(copy)).toContain(culprit);
    }),
    { numRuns: 60 },
  );
});

const loopThrough = (type: string): Graph => ({
  nodes: [node('t', 'trigger'), node('a', type), node('b', 'condition')],
  edges: [
    { id: '1', source: 't', target: 'a' },
    { id: '2', source: 'a', target: 'b' },
    { id: '3', source: 'b', target: 'a', source_handle: 'true' },
  ],
});

test('a loop with a wait is allowed, and the issue of a loop without one names all its nodes', () => {
  expect(messages(loopThrough('wait'))).toEqual([]);
  expect(messages(loopThrough('set_context'))).toEqual(['The loop a -> b -> a passes no wait; put a wait node into it']);
});

test('an unknown key of a node is no fault, whatever text it holds', () => {
  const graph = loopThrough('wait');
  graph.nodes[1]!.data = { ...graph.nodes[1]!.data, colour: '{{ broken' };
  expect(messages(graph)).toEqual([]);
});

test('a fault of one node causes no issues of its neighbours', () => {
  const graph = {
    nodes: [node('t', 'trigger'), { id: 'a', type: 'set_context', name: 5, data: { assign: {} } }, node('out', 'exit')],
    edges: [
      { id: '1', source: 't', target: 'a' },
      { id: '2', source: 'a', target: 'out' },
    ],
  };
  expect(places(graph)).toEqual(['nodes.a.name']);
});

test('all issues are reported at once, each with the correction', () => {
  const graph = {
    nodes: [
      node('t', 'trigger'),
      { id: 'x', type: 'no_such_node', data: {} },
      node('c', 'condition', { condition: { field: 'a', operator: 'like', value: 1 } }),
      node('s', 'switch', {
        value: '{{ a',
        cases: [
          { key: 'default', equals: 1 },
          { key: 'k', equals: 1 },
          { key: 'k', equals: 2 },
        ],
      }),
      node('e', 'exit'),
    ],
    edges: [
      { id: '1', source: 't', target: 'c' },
      { id: '2', source: 'c', target: 's' },
      { id: '3', source: 's', target: 'e', source_handle: 'k' },
      { id: '4', source: 'e', target: 's' },
      { id: '5', source: 's', target: 'x', source_handle: 'nope' },
    ],
  };
  const found = validateGraph(graph, nodeTypes).map(({ loc, msg }) => `${loc.slice(2).join('.')}: ${msg}`);
  const expected = [
    /^nodes\.x\.type: Unknown node type "no_such_node"; known: trigger, condition, /,
    /^nodes\.c\.data\.condition\.operator: Unknown operator "like"; allowed: eq, /,
    /^nodes\.s\.data\.cases\.0\.key: Key "default" is reserved/,
    /^nodes\.s\.data\.cases\.2\.key: Key "k" occurs twice/,
    /^nodes\.s\.data\.value: Template "\{\{ a"/,
    /^edges\.2\.source_handle: Node "c" of type condition has no handle "default", so source_handle is required; allowed: true, false/,
    /^edges\.4\.source_handle: .*nothing may follow it/,
    /^edges\.5\.source_handle: .*no handle "nope"; allowed: default, k$/,
    /^nodes\.s: The loop s -> e -> s passes no wait/,
  ];
  for (const pattern of expected)
    expect(
      found.some((line) => pattern.test(line)),
      `${pattern.source}\n${found.join('\n')}`,
    ).toBe(true);
  expect(found).toHaveLength(expected.length);
});

test('a value that is no graph is refused; a node without id is named by position', () => {
  expect(places(null)).toEqual(['']);
  expect(places({})).toEqual(['nodes', 'edges']);
  expect(places({ nodes: [{ type: 'trigger' }, 3], edges: [{}] })).toEqual([
    'nodes.0.id',
    'nodes.1',
    'edges.0.id',
    'edges.0.source',
    'edges.0.target',
    'nodes',
  ]);
  const many = { nodes: Array.from({ length: maxNodes + 1 }, (_, index) => node(`n${index}`, 'exit')), edges: [] };
  expect(messages(many)).toEqual([expect.stringContaining('at most 200 nodes, this one 201')]);
});

test('keys of graph editors on nodes and edges are ignored, and an edge without handle leaves at default', () => {
  const graph = {
    nodes: [
      { id: 't', type: 'trigger', position: { x: 1, y: 2 }, width: 100 },
      { id: 'e', type: 'exit', data: null, name: null, selected: true },
    ],
    edges: [{ id: '1', source: 't', target: 'e', source_handle: null, animated: true }],
    viewport: { zoom: 1 },
  };
  expect(messages(graph)).toEqual([]);
  expect(parseDefinition(graph)).toEqual({
    nodes: [
      { id: 't', type: 'trigger', name: undefined, data: {} },
      { id: 'e', type: 'exit', name: undefined, data: {} },
    ],
    edges: [{ id: '1', source: 't', target: 'e', source_handle: null }],
  });
});
