import { z } from 'zod';
import { configObject } from '../../library/json/config-object.ts';
import { ContextSchema } from '../../expressions/schemas/context-schema.ts';
import { HttpRequestData } from '../../expressions/http-request/schema.ts';
import {
  editorKeys,
  ignoredEndCallKeys,
  ignoredGlobalKeys,
  ignoredStartKeys,
  ignoredTalkKeys,
  ignoredTransferKeys,
  ignoredWebhookKeys,
  startOnlyKeys,
} from './ignored-keys.ts';
import { endCallTool, knowledgeTool, toolNamePattern } from './tool-rules.ts';
import { checkSummaryTarget, transferFields, TransferSettings } from './transfer-settings.ts';

const maxPromptLength = 100_000;
const defaultDelaySeconds = 2;
const maxSpeechLength = 4_000;

const isFilled = (text: string): boolean => text.trim() !== '';
const nonEmptyText = (maximum: number) => z.string().max(maximum).refine(isFilled, 'Must not be empty');

/** Names with a meaning of their own in a gathered context or in a template. */
const reservedVariables = new Set([
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
  .refine((name) => !reservedVariables.has(name), 'This is a name of the call itself; choose another');

const ExtractionVariable = configObject({
  name: variableName,
  type: z.enum(['string', 'number', 'boolean']).default('string'),
  /** Describes the value for the model. */
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
  description: nonEmptyText(2_000),
  parameters: Parameters.default({ type: 'object', properties: {} }),
  /** Without `body` the arguments are sent: as JSON, or as the query for GET and HEAD. Templates read them as `arguments`. */
  http: HttpCall.optional(),
  /** Hands the caller to a human. */
  transfer: TransferSettings.optional(),
}).superRefine(({ http, transfer }, context) => {
  if ((http === undefined) !== (transfer === undefined)) return;
  const message = http === undefined ? 'Give the request in `http`, or the human in `transfer`' : 'Give `http` or `transfer`, not both';
  context.addIssue({ code: 'custom', path: ['http'], message });
});

/** Null means absent: graph editors write null for an empty field. */
const nullishList = <Item extends z.ZodType>(item: Item, maximum: number) =>
  z
    .array(item)
    .max(maximum)
    .nullish()
    .transform((items) => items ?? []);
const nullishFlag = (usual: boolean) =>
  z
    .boolean()
    .nullish()
    .transform((given) => given ?? usual);

const talkFields = {
  name: z.string().max(200).nullish(),
  prompt: nonEmptyText(maxPromptLength),
  allow_interrupt: nullishFlag(true),
  add_global_prompt: nullishFlag(true),
  extraction_enabled: nullishFlag(false),
  extraction_prompt: z.string().max(maxPromptLength).nullish(),
  extraction_variables: nullishList(ExtractionVariable, 50),
};
const toolFields = {
  document_uuids: nullishList(z.uuid('Must be the document_uuid of a document'), 100),
  /** True: all documents of the organization. */
  knowledge_base: nullishFlag(false),
  tools: nullishList(Tool, 50),
};

const StartCallData = configObject({
  ...editorKeys,
  ...ignoredTalkKeys,
  ...ignoredStartKeys,
  ...talkFields,
  ...toolFields,
  greeting: z.string().max(maxSpeechLength).nullish(),
  /** Holds the greeting back for `delayed_start_duration` seconds after a call is answered. */
  delayed_start: nullishFlag(false),
  delayed_start_duration: z
    .number()
    .min(0)
    .max(10)
    .nullish()
    .transform((seconds) => seconds ?? defaultDelaySeconds),
  /** Overrides `machine_detection` of the telephony configuration. */
  detect_voicemail: z.boolean().nullish(),
});
const AgentNodeData = configObject({ ...editorKeys, ...startOnlyKeys, ...ignoredTalkKeys, ...talkFields, ...toolFields });
const EndCallData = configObject({ ...editorKeys, ...ignoredEndCallKeys, ...startOnlyKeys, ...ignoredTalkKeys, ...talkFields });
const TransferData = configObject({ ...editorKeys, ...ignoredTransferKeys, name: talkFields.name, ...transferFields }).superRefine(
  checkSummaryTarget,
);
const GlobalNodeData = configObject({ ...editorKeys, ...ignoredGlobalKeys, name: talkFields.name, prompt: talkFields.prompt });
/** A webhook after the conversation. `normalizeWebhookFields` has renamed the fields of other services. */
const WebhookData = configObject({
  ...editorKeys,
  ...ignoredWebhookKeys,
  name: talkFields.name,
  /** False: the webhook is not sent. */
  enabled: nullishFlag(true),
  ...HttpRequestData.pick({ method: true, url: true, headers: true, body: true, secret: true, timeout_seconds: true }).shape,
});

/** The data of each type of node. */
export const nodeDataSchemas = {
  startCall: StartCallData,
  agentNode: AgentNodeData,
  endCall: EndCallData,
  transfer: TransferData,
  globalNode: GlobalNodeData,
  webhook: WebhookData,
} as const;

export type NodeType = keyof typeof nodeDataSchemas;
export const nodeTypeNames = Object.keys(nodeDataSchemas) as NodeType[];
export const isNodeType = (type: string): type is NodeType => Object.hasOwn(nodeDataSchemas, type);

const id = z.string().min(1).max(100);

/** Further keys of a graph editor, such as sizes and colours, are ignored. */
export const NodeSchema = z.object({ id, type: z.string().min(1), data: z.record(z.string(), z.unknown()) });
export const EdgeSchema = z.object({
  id,
  source: z.string(),
  target: z.string(),
  data: configObject({
    ...editorKeys,
    label: nonEmptyText(64),
    /** When to follow this edge, in words for the model. */
    condition: nonEmptyText(4_000),
    transition_speech: z.string().max(maxSpeechLength).nullish(),
  }),
});

export type AgentTool = z.infer<typeof Tool>;
export type ExtractionVariable = z.infer<typeof ExtractionVariable>;
export type WebhookData = z.infer<typeof WebhookData>;
export type AgentEdge = z.infer<typeof EdgeSchema>;
/** The data of the node types of a conversation. An endCall node has no tools or documents; the `startOnlyKeys` are those of a start. */
export type TalkData = Omit<
  z.infer<typeof AgentNodeData>,
  keyof typeof startOnlyKeys | keyof typeof editorKeys | keyof typeof ignoredTalkKeys
> &
  Partial<Pick<z.infer<typeof StartCallData>, keyof typeof startOnlyKeys>>;
