type Node = { id: string; type: string; data?: object };
/** `from.handle` leads to a node; without a handle, by the default one. */
type Edges = Record<string, string>;

interface Journey {
  name: string;
  definition: object;
  settings?: object;
  trigger?: object;
}

function graph(nodes: Node[], edges: Edges) {
  return {
    nodes: [{ id: 'in', type: 'trigger' }, ...nodes].map((node) => ({ data: {}, ...node })),
    edges: Object.entries(edges).map(([from, target]) => {
      const [source, handle] = from.split('.');
      return { id: from, source, target, ...(handle === undefined ? {} : { source_handle: handle }) };
    }),
  };
}

const onEvent = (type: string) => ({ type: 'contact_event', config: { event_types: [type] } });
const exit = (id: string, outcome: string): Node => ({ id, type: 'exit', data: { outcome } });

/** The journeys that a kill meets. `receiver` is the address of a customer's server; every request names its node in the path. */
export function killJourneys(receiver: string) {
  const post = (id: string, number: string, more: object = {}): Node => ({
    id,
    type: 'http_request',
    data: { url: `${receiver}/${id}/${number}`, body: { number }, ...more },
  });

  /** Started by another run, which waits for it. */
  const pack: Journey = {
    name: 'Pack',
    definition: graph([{ id: 'sit', type: 'wait', data: { duration: 'PT2S' } }, post('stow', '{{ order }}'), exit('out', 'packed')], {
      in: 'sit',
      sit: 'stow',
      stow: 'out',
    }),
  };

  /** A journey with every type of node, all of which one run visits. */
  const order = (packId: number, agentId: number): Journey => ({
    name: 'Order',
    trigger: onEvent('ordered'),
    definition: graph(
      [
        { id: 'big', type: 'condition', data: { condition: { field: 'data.total', operator: 'gte', value: 100 } } },
        { id: 'large', type: 'set_context', data: { assign: { size: 'large' } } },
        { id: 'small', type: 'set_context', data: { assign: { size: 'small' } } },
        { id: 'kind', type: 'switch', data: { value: '{{ kind }}', cases: [{ key: 'book', equals: 'book' }] } },
        {
          id: 'half',
          type: 'split',
          data: {
            variants: [
              { key: 'a', weight: 1 },
              { key: 'b', weight: 1 },
            ],
          },
        },
        { id: 'mark', type: 'update_contact', data: { set: { 'custom_fields.order': '{{ order }}' }, add_tags: ['buyer'] } },
        { id: 'join', type: 'list_membership', data: { add: ['Buyers'], remove: ['Prospects'] } },
        post('tell', '{{ order }}'),
        { id: 'look', type: 'knowledge_search', data: { query: 'What is told of {{ kind }} {{ order }}?', save_as: 'facts' } },
        { id: 'think', type: 'llm', data: { prompt: 'SIM_SLOW_200 Thank the buyer of order {{ order }}.', save_as: 'thanks' } },
        { id: 'rest', type: 'wait', data: { duration: 'PT3S' } },
        {
          id: 'paid',
          type: 'wait_for_event',
          data: { event_types: ['order_paid'], match: { field: 'data.order', value: '{{ order }}' }, timeout: 'P1D', lookback: 'P1D' },
        },
        // A number of its own, since the simulated carrier decides by the last digits how a call ends.
        { id: 'ring', type: 'voice_call', data: { workflow_id: agentId, phone: '+1303555{{ order | plus: 2000 }}' } },
        {
          id: 'note',
          type: 'send_message',
          data: {
            to: '+1404555{{ order | plus: 2000 }}',
            template_name: 'order_update',
            language: 'en',
            template_params: { 1: '{{ kind }}', 2: '{{ order }}' },
          },
        },
        { id: 'shout', type: 'chatapp_message', data: { channel: 'general', text: 'Order {{ order }}' } },
        { id: 'file', type: 'tracker_issue', data: { project: 'OPS', summary: 'Order {{ order }}' } },
        { id: 'book', type: 'calendar_event', data: { start: '2027-01-04T10:00:00Z', duration: 'PT30M', summary: 'Order {{ order }}' } },
        { id: 'enter', type: 'sheet_row', data: { values: { Name: 'Order {{ order }}' } } },
        { id: 'announce', type: 'emit_event', data: { event_type: 'order_settled', data: { order: '{{ order }}' } } },
        { id: 'pack', type: 'run_workflow', data: { workflow_id: packId, context: { order: '{{ order }}' }, wait: true } },
        post('charge', '{{ order }}', { after_crash: 'unknown' }),
        exit('out', '{{ size }}'),
        exit('unpaid', 'unpaid'),
        exit('uncalled', 'uncalled'),
        exit('unpacked', 'unpacked'),
      ],
      {
        in: 'big',
        'big.true': 'large',
        'big.false': 'small',
        large: 'kind',
        small: 'kind',
        'kind.book': 'half',
        'kind.default': 'half',
        'half.a': 'mark',
        'half.b': 'mark',
        mark: 'join',
        join: 'tell',
        tell: 'look',
        look: 'think',
        think: 'rest',
        rest: 'paid',
        'paid.received': 'ring',
        ring: 'note',
        note: 'shout',
        shout: 'file',
        file: 'book',
        book: 'enter',
        enter: 'announce',
        'ring.error': 'uncalled',
        'paid.timeout': 'unpaid',
        announce: 'pack',
        'pack.completed': 'charge',
        'pack.failed': 'unpacked',
        charge: 'out',
      },
    ),
  });

  /** Started by what another run emits. */
  const ship: Journey = {
    name: 'Ship',
    trigger: onEvent('order_settled'),
    definition: graph([post('ship', '{{ order }}'), exit('out', 'shipped')], { in: 'ship', ship: 'out' }),
  };

  /** Started by webhooks, few at a time: the others wait in `queued`. */
  const parcel: Journey = {
    name: 'Parcel',
    trigger: { type: 'webhook', config: { auth: { type: 'none' }, delivery_id: 'X-Delivery' } },
    settings: { max_active_runs: 3 },
    definition: graph([{ id: 'roll', type: 'wait', data: { duration: 'PT1S' } }, post('drop', '{{ parcel }}'), exit('out', 'dropped')], {
      in: 'roll',
      roll: 'drop',
      drop: 'out',
    }),
  };

  /** Executed; the receiver answers the first attempt with 503 and Retry-After. */
  const visit: Journey = {
    name: 'Visit',
    definition: graph([post('knock', '{{ visit }}'), exit('out', 'met')], { in: 'knock', knock: 'out' }),
  };

  /** Paused before its side effect. */
  const gate: Journey = {
    name: 'Gate',
    trigger: onEvent('arrived'),
    definition: graph(
      [
        {
          id: 'open',
          type: 'wait_for_event',
          data: { event_types: ['opened'], match: { field: 'data.gate', value: '{{ gate }}' }, timeout: 'P1D', lookback: 'P1D' },
        },
        post('pass', '{{ gate }}'),
        exit('out', 'passed'),
        exit('shut', 'shut'),
      ],
      { in: 'open', 'open.received': 'pass', 'open.timeout': 'shut', pass: 'out' },
    ),
  };

  /** Its request is still under way when the kill comes. */
  const slow: Journey = {
    name: 'Slow',
    definition: graph(
      [
        { id: 'which', type: 'condition', data: { condition: { field: 'data.careful', operator: 'eq', value: true } } },
        post('once', '{{ slow }}', { after_crash: 'unknown', timeout_seconds: 30 }),
        post('again', '{{ slow }}', { timeout_seconds: 30 }),
        exit('out', 'done'),
      ],
      { in: 'which', 'which.true': 'once', 'which.false': 'again', once: 'out', again: 'out' },
    ),
  };

  return { pack, order, ship, parcel, visit, gate, slow };
}

export type JourneyName = keyof ReturnType<typeof killJourneys>;
