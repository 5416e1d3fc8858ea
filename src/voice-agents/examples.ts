import offer from '../../examples/agents/spring-offer.json' with { type: 'json' };
import customer from '../../examples/agents/willing-customer.json' with { type: 'json' };
import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Requests that work in the order of the document. Telephony configuration 1 is there from the beginning. */
export const voiceAgentExamples: ExamplesByOperation = {
  'telephonyConfigs.create': {
    body: {
      name: 'Second line',
      provider: 'twilio',
      twilio: { account_sid: 'AC0123456789abcdef0123456789abcdef', auth_token: '0123456789abcdef0123456789abcdef' },
      from_numbers: ['+1 500 555 0007'],
      calls_per_second: 1,
      machine_detection: true,
    },
  },
  'telephonyConfigs.list': {},
  'telephonyConfigs.get': { path: { config_id: 2 } },
  'telephonyConfigs.update': { path: { config_id: 2 }, body: { calls_per_second: 5 } },
  'telephonyConfigs.delete': { path: { config_id: 2 } },
  'agents.create': [
    { name: 'offer', summary: 'Calls customers about an offer', body: offer },
    { name: 'customer', summary: 'Plays a customer in tests', body: customer },
    {
      name: 'old',
      summary: 'Without what may be left out',
      body: { name: 'Autumn offer', workflow_definition: offer.workflow_definition },
    },
  ],
  'agents.list': { query: { search: 'offer' } },
  'agents.get': { path: { workflow_id: 1 } },
  'agents.update': {
    path: { workflow_id: 1 },
    body: {
      workflow_configurations: {
        max_call_duration: 300,
        language: 'en-US',
        required_tests: [
          {
            adversary_workflow_id: 2,
            config: { first_speaker: 'actor', checks: [{ name: 'goes on to the booking', type: 'reached_node', node: 'Booking' }] },
          },
        ],
      },
    },
  },
  'agents.setStatus': { path: { workflow_id: 3 }, body: { status: 'archived' } },
  'agents.validate': {
    path: { workflow_id: 1 },
    body: { workflow_definition: { nodes: [{ id: 'bye', type: 'endCall', data: { prompt: 'Say goodbye.' } }], edges: [] } },
  },
  'agents.verify': { path: { workflow_id: 1 } },
  'agentRuns.create': [
    { name: 'call', summary: 'Call a contact', path: { workflow_id: 1 }, body: { mode: 'telephony', contact_id: 1 } },
    {
      name: 'chat',
      summary: 'Chat in text, without a telephone',
      path: { workflow_id: 1 },
      body: { mode: 'textchat', initial_context: { first_name: 'Ada', product: 'heat pumps' } },
    },
  ],
  'agentRuns.list': { path: { workflow_id: 1 } },
  'agentRuns.sendMessage': { path: { workflow_id: 1, run_id: 2 }, body: { text: 'Yes, I am interested.' } },
  'agentRuns.end': { path: { workflow_id: 1, run_id: 2 } },
  'agentRuns.get': { path: { workflow_id: 1, run_id: 1 } },
  'agentRuns.getTranscript': { path: { workflow_id: 1, run_id: 1 }, query: { format: 'text' } },
  'agentRuns.getRecording': { path: { workflow_id: 1, run_id: 1 }, answer: '(the bytes of the recording)' },
  'agentRuns.getDownloadLink': { path: { workflow_id: 1, run_id: 1 }, query: { artifact: 'transcript', expires_in: 3600 } },
  'agentRuns.downloadArtifact': { path: { organization_id: '1', run_id: '1', artifact: 'transcript' } },
};
