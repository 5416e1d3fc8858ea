import { z } from 'zod';
import { configObject, warningsOf, type Warning } from '../library/config-object.ts';
import { validateTemplate } from '../automation-workflows/templates.ts';
import type { Json } from '../library/json.ts';

const mostChecks = 50;
const mostMocks = 50;

const name = z.string().trim().min(1, 'Must not be empty').max(200);
const speaker = z.enum(['actor', 'adversary', 'any']).default('any');
const of = z.enum(['actor', 'adversary']).default('actor');
const scalar = z.union([z.string().max(2_000), z.number(), z.boolean()]);

export const comparators = ['=', '!=', '>', '<', '>=', '<=', 'contains', 'exists'] as const;

const check = { name, required: z.boolean().default(true) };

/** What is asked of a conversation when it is over. */
export const Check = z.discriminatedUnion('type', [
  /** A node, by its id or its name, that the side came through. */
  configObject({ ...check, type: z.literal('reached_node'), node: z.string().min(1).max(200), speaker: of }),
  configObject({
    ...check,
    type: z.literal('disposition'),
    /** One of these. */
    value: z.union([z.string().min(1).max(200), z.array(z.string().min(1).max(200)).min(1).max(50)]),
    speaker: of,
  }),
  configObject({
    ...check,
    type: z.literal('extracted'),
    variable: z.string().min(1).max(100),
    comparator: z.enum(comparators).default('='),
    value: scalar.nullable().optional(),
    speaker: of,
  }).refine(({ comparator, value }) => comparator === 'exists' || (value ?? null) !== null, {
    path: ['value'],
    message: 'Give what the variable is compared with; only "exists" needs nothing',
  }),
  /** Without case, anywhere in an utterance. */
  configObject({ ...check, type: z.literal('contains'), value: z.string().min(1).max(2_000), speaker }),
  configObject({ ...check, type: z.literal('not_contains'), value: z.string().min(1).max(2_000), speaker }),
  configObject({
    ...check,
    type: z.literal('tool_called'),
    tool: z.string().min(1).max(100),
    /** That one call had, among others. */
    arguments: z.record(z.string(), z.unknown()).optional(),
    speaker: of,
  }),
  configObject({ ...check, type: z.literal('max_turns'), value: z.int().min(1).max(100) }),
  /** The language model reads the transcript and answers whether this is true. */
  configObject({ ...check, type: z.literal('judge'), criteria: z.string().trim().min(1, 'Must not be empty').max(4_000) }),
]);
export type Check = z.output<typeof Check>;

const context = z.record(z.string(), z.unknown()).default({});

export const TestToolMock = configObject({
  name: z.string().min(1).max(100),
  /** A request's body holds nothing but JSON; `z.json()` cannot be described to OpenAPI. */
  response: (z.unknown() as z.ZodType<Json>).optional(),
  error: z.string().max(2_000).optional(),
  /** Milliseconds. */
  delay_ms: z.int().min(0).max(30_000).optional(),
}).refine(({ response, error }) => (response === undefined) !== (error === undefined), 'Give either response or error');

/** How a session goes, and what is asked of it. A turn is one utterance of one side. */
export const TestConfig = configObject({
  max_turns: z.int().min(1).max(100).default(20),
  max_duration_seconds: z.int().min(1).max(3_600).default(300),
  first_speaker: z.enum(['actor', 'adversary']).default('adversary'),
  /** Over the variables that the agents have by themselves. */
  actor_context: context,
  adversary_context: context,
  /** A template, added to every prompt of the adversary. */
  persona: z
    .string()
    .max(10_000)
    .superRefine((text, refinement) => {
      const problem = validateTemplate(text);
      if (problem) refinement.addIssue({ code: 'custom', message: problem });
    })
    .nullable()
    .default(null),
  checks: z
    .array(Check)
    .max(mostChecks, `Must have ${mostChecks} checks or fewer`)
    .superRefine((checks, refinement) => {
      const known = new Set<string>();
      for (const [index, one] of checks.entries()) {
        if (known.has(one.name))
          refinement.addIssue({ code: 'custom', path: [index, 'name'], message: `Another check is called "${one.name}"` });
        known.add(one.name);
      }
    })
    .default([]),
  /** Passed on to the language model, which may then answer the same again. */
  seed: z.int().nullable().default(null),
  turn_delay_ms: z.int().min(0).max(60_000).default(0),
  /** What HTTP tools and the knowledge base answer instead of being asked. Tools without one answer that they were not called. */
  tool_mocks: z.array(TestToolMock).max(mostMocks, `Must have ${mostMocks} mocks or fewer`).default([]),
});
export type TestConfig = z.output<typeof TestConfig>;

/** The parts of a config that have no effect. */
export const configWarnings = (config: unknown, loc: string[] = ['body', 'config']): Warning[] => warningsOf(TestConfig, config, loc);
