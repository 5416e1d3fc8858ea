export const n8nWorkflowId = 'benchjourney0001';
export const n8nWebhookPath = '/webhook/journey';

const node = (name: string, type: string, typeVersion: number, parameters: object, more: object = {}) => ({
  id: name,
  name,
  type: `n8n-nodes-base.${type}`,
  typeVersion,
  position: [0, 0],
  parameters,
  ...more,
});
const assign = (...assignments: { name: string; value: string; type: string }[]) => ({
  assignments: { assignments: assignments.map((one) => Object.assign({ id: one.name }, one)) },
  includeOtherFields: true,
  options: {},
});

/** The typical journey of six nodes in n8n: the webhook is answered when the run has ended, and each execution is saved. */
export function n8nJourney(receiver: string): object {
  const isLarge = {
    id: 'large',
    leftValue: '={{ $json.body.total }}',
    rightValue: 100,
    operator: { type: 'number', operation: 'gt' },
  };
  const nodes = [
    node('Webhook', 'webhook', 2, { httpMethod: 'POST', path: 'journey', responseMode: 'lastNode', options: {} }, { webhookId: 'journey' }),
    node('If', 'if', 2.2, {
      conditions: {
        options: { caseSensitive: true, leftValue: '', typeValidation: 'strict', version: 2 },
        combinator: 'and',
        conditions: [isLarge],
      },
      options: {},
    }),
    node(
      'Set',
      'set',
      3.4,
      assign({ name: 'size', value: 'large', type: 'string' }, { name: 'doubled', value: '={{ $json.body.total * 2 }}', type: 'number' }),
    ),
    node('Note', 'set', 3.4, assign({ name: 'last_order', value: '={{ $json.body.order_id }}', type: 'string' })),
    node('Tell', 'httpRequest', 4.2, {
      method: 'POST',
      url: `${receiver}/n8n`,
      sendBody: true,
      specifyBody: 'json',
      jsonBody: '={{ JSON.stringify({ order: $json.last_order, size: $json.size }) }}',
      options: {},
    }),
    node('End', 'noOp', 1, {}),
  ];
  const connections = Object.fromEntries(
    nodes.slice(0, -1).map(({ name }, index) => [name, { main: [[{ node: nodes[index + 1]!.name, type: 'main', index: 0 }]] }]),
  );
  const settings = { executionOrder: 'v1', saveDataSuccessExecution: 'all', saveDataErrorExecution: 'all' };
  return { id: n8nWorkflowId, name: 'Journey', active: false, nodes, connections, settings };
}
