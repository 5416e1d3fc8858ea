import { z } from '@hono/zod-openapi';
import { listSchema, pageQuery } from '../http/pagination.ts';
import { createdAt, updatedAt } from '../http/router.ts';
import { modelProviders } from '../providers/language-model/contract.ts';
import { modelPurposes, purposeNames } from './purposes.ts';

export const defaultFirstTokenSeconds = 4;
const maxFirstTokenSeconds = 15;
const maxPlace = 100;

const meanings = {
  name: 'Name for people, which an agent or an `llm` node may name as its `model`.',
  provider:
    'The API that it is asked over: `openai`: chat completions of OpenAI or of a service with the same API; `anthropic`: the Messages API.',
  base_url:
    'Address of the API, in https, such as `https://api.openai.com/v1` or `https://api.anthropic.com`; null: the address of the provider that the service is set to.',
  model: "The provider's name of the model.",
  api_key: 'Key of the account at the provider. A secret: stored encrypted, read as `****` and its last 4 characters.',
  first_token_seconds:
    'In a talk, the seconds after which the next model of the order is asked when not a word has come. The last one of the order has 15.',
  prompt_usd_per_million: 'What a million tokens of a prompt cost, in US dollars; null: as in the price list of the service.',
  completion_usd_per_million: 'What a million tokens of an answer cost, in US dollars; null: as in the price list of the service.',
  purposes:
    'What it is asked for, each with its place in the order: the lowest is asked first, the next one when it fails or is too slow. A purpose for which no model has a place is left to the model of the service.',
};

const place = z.int().min(1, 'Must be 1 or more').max(maxPlace, `Must be ${maxPlace} or less`);
const placeFor = (purpose: keyof typeof modelPurposes) => `Place for ${modelPurposes[purpose]}; null: it is not asked for this.`;
const byPurpose = <T extends z.ZodType>(field: (purpose: keyof typeof modelPurposes) => T) =>
  Object.fromEntries(purposeNames.map((purpose) => [purpose, field(purpose)])) as Record<keyof typeof modelPurposes, T>;

/** As long as the `model` of an agent may be. */
const name = z.string().trim().min(1, 'Must not be empty').max(100, 'Must have 100 characters or fewer');
const price = z.number().min(0, 'Must be 0 or more').max(100_000, 'Must be 100000 or less').nullish();

const fields = {
  name: name.describe(meanings.name),
  provider: z.enum(modelProviders).describe(meanings.provider),
  base_url: z.string('Must be text').trim().max(500, 'Must have 500 characters or fewer').nullish().describe(meanings.base_url),
  model: z.string().trim().min(1, 'Must not be empty').max(200, 'Must have 200 characters or fewer').describe(meanings.model),
  purposes: z.strictObject(byPurpose((purpose) => place.nullish().describe(placeFor(purpose)))).describe(meanings.purposes),
  first_token_seconds: z
    .number()
    .min(0.5, 'Must be 0.5 or more')
    .max(maxFirstTokenSeconds, `Must be ${maxFirstTokenSeconds} or less`)
    .nullish()
    .openapi({ description: meanings.first_token_seconds, default: defaultFirstTokenSeconds }),
  prompt_usd_per_million: price.describe(meanings.prompt_usd_per_million),
  completion_usd_per_million: price.describe(meanings.completion_usd_per_million),
};

const apiKey = z.string('Must be text').max(1_000, 'Must have 1000 characters or fewer');

export const NewLanguageModelBody = z
  .object({ ...fields, api_key: apiKey.describe(`${meanings.api_key} A local server without keys takes any text.`) })
  .openapi('NewLanguageModel');
export const LanguageModelBody = z
  .object({
    ...fields,
    api_key: apiKey.nullish().describe(`${meanings.api_key} Left out, null or that mask: it stays, unless provider or address change.`),
  })
  .openapi('LanguageModelReplacement');

export type LanguageModelInput = z.output<typeof LanguageModelBody>;

export const LanguageModelRecord = z
  .object({
    id: z.int().describe('Id of the language model.'),
    name: z.string().describe(meanings.name),
    provider: fields.provider,
    base_url: z.string().nullable().describe(meanings.base_url),
    model: z.string().describe(meanings.model),
    api_key: z.string().describe('The key, shown as `****` and its last 4 characters.'),
    purposes: z.object(byPurpose((purpose) => z.int().nullable().describe(placeFor(purpose)))).describe(meanings.purposes),
    first_token_seconds: z.number().describe(meanings.first_token_seconds),
    prompt_usd_per_million: z.number().nullable().describe(meanings.prompt_usd_per_million),
    completion_usd_per_million: z.number().nullable().describe(meanings.completion_usd_per_million),
    created_at: createdAt,
    updated_at: updatedAt,
  })
  .describe('A language model of the organization, under its own key.')
  .openapi('LanguageModel');

export const LanguageModelQuery = z.object(pageQuery);
export const LanguageModelList = listSchema('language_models', LanguageModelRecord);

export const ModelTestResult = z
  .object({
    passed: z.boolean().describe('Whether the model can do all that its purposes need.'),
    abilities: z
      .array(
        z.object({
          ability: z
            .enum(['tools', 'structured_output', 'answers'])
            .describe(
              '`tools`: it calls a tool over a stream, for talks; `structured_output`: it answers by a schema; `answers`: it answers.',
            ),
          passed: z.boolean().describe('Whether it did.'),
          failure: z
            .string()
            .nullable()
            .describe(
              'Why not, for programs: `invalid_credentials`, `insufficient_quota`, `model_not_found`, `address_not_allowed`, `rate_limited`, `provider_failed`, `invalid_request`, `tools_not_supported`, `structured_output_not_supported` and others; null when it passed.',
            ),
          message: z.string().nullable().describe('The cause and the remedy, in a sentence; null when it passed.'),
          duration_ms: z.int().describe('How long the answer took, in milliseconds.'),
          answered_by: z.string().nullable().describe("The provider's name of the model that answered; null when none did."),
          tokens: z
            .object({
              prompt: z.int().describe('Tokens of the request.'),
              completion: z.int().describe('Tokens of the answer.'),
            })
            .describe('What the request used.'),
        }),
      )
      .describe('One small request for each ability that its purposes need.'),
  })
  .describe('How a language model answered real requests just now.')
  .openapi('LanguageModelTest');
