import { z } from 'zod';
import { keyWithoutEffect, withWarnings, type Warning } from '../../library/json/config-object.ts';

// Keys of definitions that were made for other services, above all Dograh (https://github.com/dograh-hq/dograh, `node_specs`), which has
// the same node types and edges. `schemas.ts` has the keys with a meaning here. The keys below are accepted and ignored, with a warning
// where the talk would differ.

const ignoredKey = keyWithoutEffect();

/** The state of a graph editor. */
export const editorKeys = {
  is_start: ignoredKey,
  is_end: ignoredKey,
  invalid: ignoredKey,
  validationMessage: ignoredKey,
  selected_through_edge: ignoredKey,
  hovered_through_edge: ignoredKey,
  runtime_active: ignoredKey,
};

export const ignoredTalkKeys = {
  is_static: keyWithoutEffect(
    'Has no effect: a prompt is always for the model; what is to be spoken as it stands belongs into the greeting',
  ),
  wait_for_user_response: keyWithoutEffect(
    'Has no effect: the agent always waits for the answer, and the model chooses the edge that it then goes along',
  ),
  wait_for_user_response_timeout: keyWithoutEffect(
    'Has no effect: max_user_idle_timeout of workflow_configurations says how long a silence may be',
  ),
  tool_uuids: keyWithoutEffect('Has no effect: tools of another service are not known here; write them into `tools`'),
};

/** Keys of endCall nodes. */
export const ignoredEndCallKeys = {
  document_uuids: keyWithoutEffect('Has no effect: nothing is looked up for a goodbye'),
};

const startOnlyMessage = 'Has no effect here: only a startCall node has it';

/** Keys of startCall nodes, in other nodes of the conversation. */
export const startOnlyKeys = {
  greeting: keyWithoutEffect(startOnlyMessage),
  detect_voicemail: keyWithoutEffect(startOnlyMessage),
  delayed_start: keyWithoutEffect(startOnlyMessage),
  delayed_start_duration: ignoredKey,
};

/** Keys of global nodes, which have a prompt only. */
export const ignoredGlobalKeys = {
  ...ignoredTalkKeys,
  document_uuids: ignoredKey,
  allow_interrupt: ignoredKey,
  add_global_prompt: ignoredKey,
  extraction_enabled: ignoredKey,
  extraction_prompt: ignoredKey,
  extraction_variables: ignoredKey,
  is_static: ignoredKey,
};

/** Keys of transfer nodes, which say nothing by a prompt. */
export const ignoredTransferKeys = {
  prompt: keyWithoutEffect('Has no effect: a transfer says its announcement, word for word'),
  allow_interrupt: ignoredKey,
  add_global_prompt: ignoredKey,
  extraction_enabled: ignoredKey,
  extraction_prompt: ignoredKey,
  extraction_variables: ignoredKey,
};

const recordingsMessage = 'Has no effect: recordings are not played; give the words as `greeting`';

export const ignoredStartKeys = {
  greeting_type: withWarnings(z.unknown().optional(), (type, loc): Warning[] =>
    type === 'audio' ? [{ loc, msg: recordingsMessage }] : [],
  ),
  greeting_recording_id: keyWithoutEffect(recordingsMessage),
  pre_call_fetch_enabled: keyWithoutEffect(
    'Has no effect: nothing is fetched before a call; give what the agent is to know as initial_context of the call',
  ),
  pre_call_fetch_url: ignoredKey,
  pre_call_fetch_credential_uuid: ignoredKey,
};

/** `normalizeWebhookFields` reads the first four, which have other names here. */
export const ignoredWebhookKeys = {
  http_method: ignoredKey,
  endpoint_url: ignoredKey,
  custom_headers: ignoredKey,
  payload_template: ignoredKey,
  credential_uuid: keyWithoutEffect('Has no effect: credentials of another service are not known here; give the header in `headers`'),
  retry_config: keyWithoutEffect('Has no effect: a webhook that fails is always sent again, up to five times in all'),
};

/** Accepted node types that conversations do not visit, each with its substitute. */
export const ignoredNodeTypes: Readonly<Record<string, string>> = {
  trigger: 'A trigger node has no effect: POST /workflow/{id}/runs, campaigns and journeys start calls',
  qa: 'A qa node has no effect: annotations of a run have a summary and the sentiment, and conversation tests check an agent',
};

export const isIgnoredNodeType = (type: unknown): boolean => typeof type === 'string' && Object.hasOwn(ignoredNodeTypes, type);
