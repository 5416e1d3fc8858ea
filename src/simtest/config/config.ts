import { z } from 'zod';
import { configObject, collectWarnings, type Warning } from '../../library/json/config-object.ts';
import { validateTemplate } from '../../expressions/templates/render.ts';
import type { Json } from '../../library/json/json.ts';

const maxChecks = 50;
const maxMocks = 50;

const checkName = z.string().trim().min(1, 'Must not be empty').max(200).describe('Name of the check, unique among the checks of a test.');
const utteranceSpeaker = z.enum(['actor', 'adversary', 'any']).default('any').describe('Whose utterances are looked at.');
const checkedSpeaker = z.enum(['actor', 'adversary']).default('actor').describe('Which agent it is asked of.');
const scalar = z.union([z.string().max(2_000), z.number(), z.boolean()]);

export const comparators = ['=', '!=', '>', '<', '>=', '<=', 'contains', 'exists'] as const;

const checkFields = { name: checkName, required: z.boolean().default(true).describe('Whether the test fails when it does not hold.') };
const phrase = z.string().min(1).max(2_000).describe('The words, without regard to case, anywhere in an utterance.');

/** A check of an ended conversation. */
export const Check = z.discriminatedUnion('type', [
  configObject({
    ...checkFields,
    type: z.literal('reached_node').describe('The agent came through a node.'),
    node: z.string().min(1).max(200).describe('Id or name of the node.'),
    speaker: checkedSpeaker,
  }),
  configObject({
    ...checkFields,
    type: z.literal('disposition').describe('The talk led to a code.'),
    value: z
      .union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).min(1).max(50)])
      .describe('The code that the talk must lead to, or several of which one will do.'),
    speaker: checkedSpeaker,
  }),
  configObject({
    ...checkFields,
    type: z.literal('extracted').describe('A variable was noted.'),
    variable: z.string().min(1).max(100).describe('Name of the extracted variable.'),
    comparator: z.enum(comparators).default('=').describe('How it is compared; `exists` needs no value.'),
    value: scalar.nullable().optional().describe('What it is compared with; left out or null with `exists`.'),
    speaker: checkedSpeaker,
  }).refine(({ comparator, value }) => comparator === 'exists' || (value ?? null) !== null, {
    path: ['value'],
    message: 'Give what the variable is compared with; only "exists" needs nothing',
  }),
  configObject({ ...checkFields, type: z.literal('contains').describe('Words were said.'), value: phrase, speaker: utteranceSpeaker }),
  configObject({
    ...checkFields,
    type: z.literal('not_contains').describe('Words were not said.'),
    value: phrase,
    speaker: utteranceSpeaker,
  }),
  configObject({
    ...checkFields,
    type: z.literal('tool_called').describe('A tool was called.'),
    tool: z.string().min(1).max(100).describe('Name of the tool that must have been called.'),
    arguments: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Arguments that one of its calls must have had, among others; left out: any.'),
    speaker: checkedSpeaker,
  }),
  configObject({
    ...checkFields,
    type: z.literal('max_turns').describe('The talk was brief.'),
    value: z.int().min(1).max(100).describe('How many utterances there may be at most.'),
  }),
  configObject({
    ...checkFields,
    type: z.literal('judge').describe('The language model finds a sentence true.'),
    criteria: z
      .string()
      .trim()
      .min(1, 'Must not be empty')
      .max(4_000)
      .describe('A sentence. The language model reads the transcript and tells whether it is true.'),
  }),
]);
export type Check = z.output<typeof Check>;

const contextSchema = (side: string) =>
  z.record(z.string(), z.unknown()).default({}).describe(`Variables of the ${side}, before those that the agent has by itself.`);

const TestToolMock = configObject({
  name: z.string().min(1).max(100).describe('Name of a tool of one of the two agents.'),
  /** A request's body holds nothing but JSON; `z.json()` cannot be described to OpenAPI. */
  response: (z.unknown() as z.ZodType<Json>).optional().describe('What it answers. Either this or `error`.'),
  error: z.string().max(2_000).optional().describe('As what it fails. Either this or `response`.'),
  delay_ms: z.int().min(0).max(30_000).optional().describe('After how many milliseconds it answers; at once when left out.'),
}).refine(({ response, error }) => (response === undefined) !== (error === undefined), 'Give either response or error');

/** How a session goes, and its checks. A turn is one utterance of one side. */
export const TestConfig = configObject({
  max_turns: z.int().min(1).max(100).default(20).describe('How many utterances there are at most, of both together.'),
  max_duration_seconds: z.int().min(1).max(3_600).default(300).describe('How many seconds they talk at most.'),
  first_speaker: z.enum(['actor', 'adversary']).default('adversary').describe('Who speaks first.'),
  actor_context: contextSchema('actor'),
  adversary_context: contextSchema('adversary'),
  persona: z
    .string()
    .max(10_000)
    .superRefine((text, refinement) => {
      const problem = validateTemplate(text);
      if (problem) refinement.addIssue({ code: 'custom', message: problem });
    })
    .nullable()
    .default(null)
    .describe('Whom the adversary plays: a Liquid template that is added to each of its prompts; null: nothing is added.'),
  checks: z
    .array(Check)
    .max(maxChecks, `Must have ${maxChecks} checks or fewer`)
    .superRefine((checks, refinement) => {
      const known = new Set<string>();
      for (const [index, one] of checks.entries()) {
        if (known.has(one.name))
          refinement.addIssue({ code: 'custom', path: [index, 'name'], message: `Another check is called "${one.name}"` });
        known.add(one.name);
      }
    })
    .default([])
    .describe('What is asked of the talk when it is over, up to 50 checks.'),
  seed: z.int().nullable().default(null).describe('Passed on to the language model, which may then answer the same again; null: none.'),
  turn_delay_ms: z.int().min(0).max(60_000).default(0).describe('Milliseconds to wait before each utterance.'),
  tool_mocks: z
    .array(TestToolMock)
    .max(maxMocks, `Must have ${maxMocks} mocks or fewer`)
    .default([])
    .describe('What HTTP tools and the knowledge base answer instead of being asked. Tools without one answer that they were not called.'),
});
export type TestConfig = z.output<typeof TestConfig>;

/** Warnings about the parts of a config that have no effect. */
export const configWarnings = (config: unknown, loc: string[] = ['body', 'config']): Warning[] => collectWarnings(TestConfig, config, loc);
