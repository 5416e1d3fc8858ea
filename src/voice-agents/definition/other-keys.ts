import { z } from 'zod';
import { withoutEffect, withWarnings, type Warning } from '../../library/config-object.ts';

// Keys that definitions made for other services have, above all for Dograh (https://github.com/dograh-hq/dograh, `node_specs`), whose node types
// and edges are ours. What means something here is in `schemas.ts`; these may be there, and what would change a talk is warned of.

const quiet = withoutEffect();

/** The state of a graph editor. */
export const editorKeys = {
  is_start: quiet,
  is_end: quiet,
  invalid: quiet,
  validationMessage: quiet,
  selected_through_edge: quiet,
  hovered_through_edge: quiet,
  runtime_active: quiet,
};

export const otherTalkKeys = {
  is_static: withoutEffect('Has no effect: a prompt is always for the model; what is to be spoken as it stands belongs into the greeting'),
  wait_for_user_response: withoutEffect(
    'Has no effect: the agent always waits for the answer, and the model chooses the edge that it then goes along',
  ),
  wait_for_user_response_timeout: withoutEffect(
    'Has no effect: max_user_idle_timeout of workflow_configurations says how long a silence may be',
  ),
  tool_uuids: withoutEffect('Has no effect: tools of another service are not known here; write them into `tools`'),
};

/** Of a goodbye. */
export const goodbyeKeys = {
  document_uuids: withoutEffect('Has no effect: nothing is looked up for a goodbye'),
};

const ofStart = 'Has no effect here: only a startCall node has it';

/** Of nodes that talk and are not the start. */
export const startAlone = {
  greeting: withoutEffect(ofStart),
  detect_voicemail: withoutEffect(ofStart),
  delayed_start: withoutEffect(ofStart),
  delayed_start_duration: quiet,
};

/** Of a node that only holds a prompt. */
export const talkAlone = {
  ...otherTalkKeys,
  document_uuids: quiet,
  allow_interrupt: quiet,
  add_global_prompt: quiet,
  extraction_enabled: quiet,
  extraction_prompt: quiet,
  extraction_variables: quiet,
  is_static: quiet,
};

const onlySpoken = 'Has no effect: recordings are not played; give the words as `greeting`';

export const otherStartKeys = {
  greeting_type: withWarnings(z.unknown().optional(), (type, loc): Warning[] => (type === 'audio' ? [{ loc, msg: onlySpoken }] : [])),
  greeting_recording_id: withoutEffect(onlySpoken),
  pre_call_fetch_enabled: withoutEffect(
    'Has no effect: nothing is fetched before a call; give what the agent is to know as initial_context of the call',
  ),
  pre_call_fetch_url: quiet,
  pre_call_fetch_credential_uuid: quiet,
};

/** `webhookFields` reads those that we have under another name. */
export const otherWebhookKeys = {
  http_method: quiet,
  endpoint_url: quiet,
  custom_headers: quiet,
  payload_template: quiet,
  credential_uuid: withoutEffect('Has no effect: credentials of another service are not known here; give the header in `headers`'),
  retry_config: withoutEffect('Has no effect: a webhook that fails is always sent again, up to five times in all'),
};

/** Node types that may be there and are not walked, each with what takes its place. */
export const passiveNodeTypes: Readonly<Record<string, string>> = {
  trigger: 'A trigger node has no effect: POST /workflow/{id}/runs, campaigns and journeys start calls',
  qa: 'A qa node has no effect: annotations of a run have a summary and the sentiment, and conversation tests check an agent',
};

export const isPassive = (type: unknown): boolean => typeof type === 'string' && Object.hasOwn(passiveNodeTypes, type);
