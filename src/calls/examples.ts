import type { ExamplesByOperation } from '../http/operation-examples.ts';

/** Example requests that work in the order of the OpenAPI document. */
export const callExamples: ExamplesByOperation = {
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
  'calls.list': { query: { outcome: 'completed', start_date: '2026-11-01', sort: 'longest_talk' } },
  'calls.export': { query: { format: 'csv', columns: 'id,phone,outcome,disposition,talk_seconds' } },
  'agentRuns.getTranscript': { path: { workflow_id: 1, run_id: 1 }, query: { format: 'text' } },
  'agentRuns.getRecording': { path: { workflow_id: 1, run_id: 1 }, answer: '(the bytes of the recording)' },
  'agentRuns.getDownloadLink': { path: { workflow_id: 1, run_id: 1 }, query: { artifact: 'transcript', expires_in: 3600 } },
  'agentRuns.downloadArtifact': { path: { organization_id: '1', run_id: '1', artifact: 'transcript' } },
};
