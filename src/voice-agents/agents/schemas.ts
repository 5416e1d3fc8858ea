import { z } from '@hono/zod-openapi';
import { createdAt, Problem, updatedAt, warnings } from '../../http/router.ts';
import { listSchema, pageQuery } from '../../http/pagination.ts';
import { maxCallSeconds } from '../conversation/guards.ts';

const jsonObject = z.record(z.string(), z.unknown());
const name = z
  .string()
  .trim()
  .min(1, 'Must not be empty')
  .max(200, 'Must have 200 characters or fewer')
  .describe('Name of the agent, for people.');

const definition = jsonObject.openapi({
  description:
    '`{ nodes: [{ id, type, position, data }], edges: [{ id, source, target, data: { label, condition, transition_speech? } }] }` with the node types startCall (one), agentNode, endCall, transfer (hands the caller to a human: `to`, `mode`, `business_hours`, `fallback_to` ...), globalNode and webhook. Any object is stored; `issues` of the agent tell what is wrong with it. Secrets in it are shown as a mask; a mask sent back keeps them.',
  example: {
    nodes: [
      {
        id: 'start',
        type: 'startCall',
        data: { prompt: 'Ask {{first_name}} whether they are interested.', greeting: 'Hello {{first_name}}!' },
      },
      { id: 'bye', type: 'endCall', data: { prompt: 'Thank them and say goodbye.' } },
    ],
    edges: [{ id: 'e1', source: 'start', target: 'bye', data: { label: 'answered', condition: 'the person has answered' } }],
  },
});
const configurations = jsonObject.openapi({
  description: `How the agent talks; an unknown key is kept and named in \`warnings\`, null is the default. \`model\`, \`max_call_duration\` (seconds, 300, at most ${maxCallSeconds}), \`max_user_idle_timeout\` (seconds, 10), \`recording_enabled\` (true), \`voicemail_message\` (said to an answering machine after its greeting; null: it hangs up), \`language\` (such as "en-US"), \`voice\`, \`tts_provider\`, \`transcription_provider\`, \`phrases\` (what it says without asking the model), \`required_tests\` (\`[{ adversary_workflow_id, config }]\`, at most 50: which agent plays the person, and the \`config\` of a test session).`,
  example: { max_call_duration: 600, language: 'en-US', phrases: { goodbye: 'Goodbye, and thank you.' } },
});
const variables = jsonObject.openapi({ description: 'What prompts may use where a call brings no variable of that name' });
const dispositionCodes = z
  .record(z.string().trim().min(1).max(64), z.string().max(500))
  .refine((codes) => Object.keys(codes).length <= 100, 'Must have 100 codes or fewer')
  .openapi({
    description: '`{ code: meaning }`: what a talk may have led to; without any, the usual ones',
    example: { sold: 'They ordered' },
  });

const fields = {
  template_context_variables: variables.nullish(),
  workflow_configurations: configurations.nullish(),
  call_disposition_codes: dispositionCodes.nullish(),
};
export const NewAgentBody = z.object({ name, workflow_definition: definition, ...fields }).openapi('NewVoiceAgent');
export const AgentChangeBody = z
  .object({
    name: name.optional(),
    workflow_definition: definition.optional(),
    ...fields,
    require_verified: z
      .boolean()
      .nullish()
      .openapi({ description: 'Change it only if, as it is then, it passes its `required_tests`; otherwise 409, and nothing is changed' }),
  })
  .openapi('VoiceAgentChange');

const agentStatuses = ['active', 'archived'] as const;
const agentStatus = z
  .enum(agentStatuses)
  .describe('`active`: takes and makes calls; `archived`: put away, and refused where one is to call.');
export const AgentStatusBody = z.object({ status: agentStatus }).openapi('VoiceAgentStatus');

export const ListedAgent = z
  .object({
    id: z.int().describe('Id of the agent; `workflow_id` elsewhere.'),
    name: z.string().describe('Name of the agent, for people.'),
    status: agentStatus,
    created_at: createdAt,
    updated_at: updatedAt,
    workflow_definition: jsonObject.describe('The graph of the talk as it is now: `{ nodes, edges }`. Secrets in it are masked.'),
    current_definition_id: z
      .int()
      .describe(
        'Id of this version. Each change of graph, variables, disposition codes or configurations makes a new one; a call keeps the one it began with.',
      ),
    template_context_variables: jsonObject.describe('By name, what prompts use where a call brings no variable of that name.'),
    call_disposition_codes: jsonObject.describe('By code, what a talk may have led to, in words for the model.'),
    total_runs: z.int().describe('How many calls and chats it has had.'),
    workflow_configurations: jsonObject.describe('How it talks: what was set, without the defaults.'),
  })
  .describe('A voice agent as lists show it: whether its definition is sound is not looked at.')
  .openapi('ListedVoiceAgent');

export const AgentRecord = ListedAgent.extend({
  issues: z
    .array(Problem)
    .describe(
      'What is wrong with the definition; `loc` names the node or edge by its id. While there is anything, nobody talks by it: calls, chats, campaigns and tests are refused with 422.',
    ),
  warnings,
})
  .describe('A voice agent: a graph of prompts by which it talks.')
  .openapi('VoiceAgent');

export const AgentQuery = z.object({
  ...pageQuery,
  status: agentStatus.default('active').describe('Only agents with this status.'),
  search: z.string().trim().max(200).optional().describe('Part of the name.'),
});
export const AgentList = listSchema('workflows', ListedAgent);

export const AgentValidationBody = z
  .object({ workflow_definition: definition.nullish().describe('The graph to check; without it or with null, the one that is stored.') })
  .openapi('VoiceAgentProposal');
export const AgentValidation = z
  .object({
    valid: z.boolean().describe('Whether calls can be made with it.'),
    errors: z.array(Problem).describe('All that is wrong; `loc` names the node or edge by its id. Empty when it is valid.'),
    warnings,
  })
  .describe('What is wrong with a definition.')
  .openapi('VoiceAgentValidation');
