/**
 * Tables without a retention rule, with the reason why they stay small: configured or imported rows are bounded by the plan, and rows of
 * unfinished work are deleted when the work is done. A new table stands here or has a rule in this folder.
 */
export const tablesWithoutRetention: Readonly<Record<string, string>> = {
  organization: 'its id is never given again: when it is deleted, the row stays without the rest',
  user: 'the same',
  membership: 'one for each user of an organization',
  api_key: 'as people make them; the plan bounds those that are live',
  organization_usage: 'one for each organization',
  messaging_config: 'one for each organization',
  call_slots: 'one for each organization',
  vector_placement: 'one for each organization',
  progress: 'one for each cursor of the minute tick',
  contact_list_member: 'leaves with its list or contact',
  custom_field_key: 'as people name fields',
  contact_change: 'leaves when the journeys that watch contacts have seen it',
  automation_workflow: 'as people make them; the plan bounds those that are live',
  automation_version: 'one for each change of a workflow that people make',
  automation_trigger: 'as people make them; the plan bounds those that are live',
  trigger_topic: 'leaves with its trigger',
  exit_topic: 'leaves with its workflow',
  run_waiter: 'leaves when its run goes on',
  workflow_entry: 'one for each key that enters a workflow which limits re-entry: "never" has no end',
  voice_agent: 'as people make them; the plan bounds those that are live',
  voice_agent_definition: 'one for each change of an agent that people make',
  telephony_config: 'as people make them; the plan bounds them',
  knowledge_chunk: 'leaves with its document',
  integration: 'as people connect tools',
  integration_contact: 'leaves with its contact or connection',
  integration_sync: 'the newest of each connection',
  failed_message: 'leaves when its record is handled or given up',
};
