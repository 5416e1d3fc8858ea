import type { Operation } from './document-types.ts';

/** The descriptions of parameters with the same meaning everywhere. A description in a parameter's own schema comes first. */
const meanings: Record<string, string> = {
  limit: 'How many records to answer at most',
  offset: 'How many records to pass over',
  search: 'Part of what names a record, without regard to case',
  status: 'Only records with this status',
  state: 'Only records in this state',
  provider: 'Only this provider',
  order: 'By which field, and in which direction',
  format: 'In which form',
  created_after: 'Only what was created after this moment',
  created_before: 'Only what was created before this moment',
  updated_after: 'Only what was changed after this moment',
  start_date: 'Only from this day or moment on',
  end_date: 'Only until this day or moment',
  event_type: 'Only events of this type',
  event_id: 'Id of the event',
  external_id: 'Only the contact with this id of your own system',
  is_completed: 'Only those that have ended, or only those that have not',
  artifact: 'Which file: `transcript` or `recording`',
  sheet_url: 'Address of the spreadsheet, as the browser shows it',
  filename: 'Part of the signed address',
  max_bytes: 'Part of the signed address: how many bytes it takes',
  expires: 'Part of the signed address: until when it works, in seconds since 1970',
  signature: 'Part of the signed address',
  id: 'Id of the API key',
  contact_id: 'Id of the contact',
  list_id: 'Id of the contact list',
  suppression_id: 'Id of the suppression',
  proposal_id: 'Id of the proposal',
  trigger_id: 'Id of the trigger',
  trigger_uuid: 'The `uuid` of a webhook trigger, the end of its `webhook_url`',
  automation_workflow_id: 'Id of the journey',
  automation_run_id: 'Id of the run of a journey',
  config_id: 'Id of the telephony configuration',
  language_model_id: 'Id of the language model',
  organization_id: 'Id of the organization',
  user_id: 'Id of the person, the `user_id` in the list of members',
  session_id: 'The `id` of the session in the list of sessions',
  passkey_id: 'Id of the passkey',
  invitation_id: 'Id of the invitation',
  deletion_id: 'The `id` that the deletion was answered with',
  campaign_id: 'Id of the campaign',
  source_id: 'The `source_id` of the upload',
  document_uuid: 'The `document_uuid` of the document',
  test_session_id: 'Id of the test session',
  load_test_group_id: 'Id of the load test',
  integration_id: 'Id of the integration',
  endpoint_id: 'Id of the webhook endpoint',
  delivery_id: 'The `id` of the delivery in the list of its endpoint',
};

/** Journeys and agents are both `workflow` in paths. */
const meaningsInGroup: Record<string, Record<string, string>> = {
  journeys: { workflow_id: 'Id of the journey' },
  triggers: { workflow_id: 'Id of the journey' },
  journeyRuns: { workflow_id: 'Id of the journey', run_id: 'Id of the run' },
  agents: { workflow_id: 'Id of the voice agent', version_id: 'Id of the version' },
  agentRuns: { workflow_id: 'Id of the voice agent', run_id: 'Id of the call or chat' },
  integrations: { provider: 'Which tool: `chatapp`, `tracker`, `calendar`, `books` or `sheet`' },
};

export function describeParameters(operation: Operation): void {
  const [group] = (operation.operationId ?? '').split('.') as [string];
  for (const parameter of operation.parameters ?? []) {
    if (parameter.name === undefined) continue;
    const meaning =
      parameter.description ?? parameter.schema?.description ?? meaningsInGroup[group]?.[parameter.name] ?? meanings[parameter.name];
    if (meaning !== undefined) parameter.description = meaning;
  }
}
