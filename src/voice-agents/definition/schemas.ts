import { z } from 'zod';
import { configObject } from '../../library/config-object.ts';
import { ContextSchema } from '../../automation-workflows/context-schema.ts';
import { HttpRequestData } from '../../automation-workflows/nodes/http-request-data.ts';
import { editorKeys, goodbyeKeys, otherStartKeys, otherTalkKeys, otherWebhookKeys, startAlone, talkAlone } from './other-keys.ts';
import { endCallTool, knowledgeTool, toolNamePattern } from './tool-name.ts';

const maximumPromptLength = 100_000;
const usualDelaySeconds = 2;
const maximumSpeechLength = 4_000;

const isFilled = (text: string): boolean => text.trim() !== '';
const filled = (maximum: number) => z.string().max(maximum).refine(isFilled, 'Must not be empty');

/** Where a value stands in a gathered context, or what a template reads by that name. */
const takenVariables = new Set([
  'call_status',
  'call_disposition',
  'call_tags',
  'nodes_visited',
  'extracted_variables',
  'initial_context',
  'gathered_context',
  'organization',
  'now',
  'arguments',
  '__proto__',
]);

const variableName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, 'Use letters, digits and _, beginning with a letter, at most 64 in all')
  .refine((name) => !takenVariables.has(name), 'This is a name of the call itself; choose another');

const ExtractionVariable = configObject({
  name: variableName,
  type: z.enum(['string', 'number', 'boolean']).default('string'),
  /** What the value is, in words for the model. */
  prompt: z.string().max(2_000).default(''),
});

const HttpCall = HttpRequestData.pick({ method: true, url: true, headers: true, body: true, timeout_seconds: true });

const Parameters = ContextSchema.superRefine((schema, context) => {
  if (schema['type'] === 'object') return;
  const message = 'The root of parameters must have "type": "object"; put a list or a single value into one of its properties';
  context.addIssue({ code: 'custom', path: ['type'], message });
});

const Tool = configObject({
  name: z
    .string()
    .regex(toolNamePattern, 'Use letters, digits, _ and -, at most 64')
    .refine((name) => name !== endCallTool && name !== knowledgeTool, 'Every agent has a tool of this name; choose another'),
  description: filled(2_000),
  parameters: Parameters.default({ type: 'object', properties: {} }),
  /** Without `body` the arguments are sent: as JSON, with GET and HEAD as the query. Templates read them as `arguments`. */
  http: HttpCall,
});

/** Null is as good as absent: graph editors write it for what nobody has filled in. */
const listOf = <Item extends z.ZodType>(item: Item, maximum: number) =>
  z
    .array(item)
    .max(maximum)
    .nullish()
    .transform((items) => items ?? []);
const flag = (usual: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((given) => given ?? usual);

const talk = {
  name: z.string().max(200).nullish(),
  prompt: filled(maximumPromptLength),
  allow_interrupt: flag(true),
  add_global_prompt: flag(true),
  extraction_enabled: flag(false),
  extraction_prompt: z.string().max(maximumPromptLength).nullish(),
  extraction_variables: listOf(ExtractionVariable, 50),
};
const abilities = {
  document_uuids: listOf(z.uuid('Must be the document_uuid of a document'), 100),
  /** All documents of the organization may be looked up. */
  knowledge_base: flag(false),
  tools: listOf(Tool, 50),
};

const StartCallData = configObject({
  ...editorKeys,
  ...otherTalkKeys,
  ...otherStartKeys,
  ...talk,
  ...abilities,
  greeting: z.string().max(maximumSpeechLength).nullish(),
  /** The greeting is held back for this many seconds after a call was answered. */
  delayed_start: flag(false),
  delayed_start_duration: z
    .number()
    .min(0)
    .max(10)
    .nullish()
    .transform((seconds) => seconds ?? usualDelaySeconds),
  /** Goes before `machine_detection` of the telephony configuration. */
  detect_voicemail: z.boolean().nullish(),
});
const AgentNodeData = configObject({ ...editorKeys, ...startAlone, ...otherTalkKeys, ...talk, ...abilities });
const EndCallData = configObject({ ...editorKeys, ...goodbyeKeys, ...startAlone, ...otherTalkKeys, ...talk });
const GlobalNodeData = configObject({ ...editorKeys, ...talkAlone, name: talk.name, prompt: talk.prompt });
/** Sent when the talk is over. Where another service's names are used, `webhookFields` has put ours in their place. */
const WebhookData = configObject({
  ...editorKeys,
  ...otherWebhookKeys,
  name: talk.name,
  /** False: it is not sent. */
  enabled: flag(true),
  ...HttpRequestData.pick({ method: true, url: true, headers: true, body: true, secret: true, timeout_seconds: true }).shape,
});

/** The data of each type of node. */
export const nodeDataSchemas = {
  startCall: StartCallData,
  agentNode: AgentNodeData,
  endCall: EndCallData,
  globalNode: GlobalNodeData,
  webhook: WebhookData,
} as const;

export type NodeType = keyof typeof nodeDataSchemas;
export const nodeTypeNames = Object.keys(nodeDataSchemas) as NodeType[];
export const isNodeType = (type: string): type is NodeType => Object.hasOwn(nodeDataSchemas, type);

const id = z.string().min(1).max(100);

/** Graph editors keep more on nodes and edges (sizes, colours); that is theirs and ignored. */
export const NodeSchema = z.object({ id, type: z.string().min(1), data: z.record(z.string(), z.unknown()) });
export const EdgeSchema = z.object({
  id,
  source: z.string(),
  target: z.string(),
  data: configObject({
    ...editorKeys,
    label: filled(64),
    /** When to go this way, in words for the model. */
    condition: filled(4_000),
    transition_speech: z.string().max(maximumSpeechLength).nullish(),
  }),
});

export type AgentTool = z.infer<typeof Tool>;
export type ExtractionVariable = z.infer<typeof ExtractionVariable>;
export type WebhookData = z.infer<typeof WebhookData>;
export type AgentEdge = z.infer<typeof EdgeSchema>;
/** What the three types of nodes that talk have; a goodbye has no abilities, and the last four are the start's. */
export type TalkData = Omit<z.infer<typeof AgentNodeData>, keyof typeof startAlone | keyof typeof editorKeys | keyof typeof otherTalkKeys> &
  Partial<Pick<z.infer<typeof StartCallData>, keyof typeof startAlone>>;
