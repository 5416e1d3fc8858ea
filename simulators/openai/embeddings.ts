import { z } from 'zod';
import { badRequest, modelNotFound } from './errors.ts';
import { embedText } from './feature-hash.ts';
import { applyTestMarkers } from './test-markers.ts';
import { parseBody } from './request-rules.ts';
import { countTokens } from './tokens.ts';

/** Native dimensions of each model, and whether fewer can be asked for. */
const models = new Map([
  ['text-embedding-3-small', { dimensions: 1536, isShortenable: true }],
  ['text-embedding-3-large', { dimensions: 3072, isShortenable: true }],
  ['text-embedding-ada-002', { dimensions: 1536, isShortenable: false }],
]);
const maxInputs = 2048;
const maxInputTokens = 8192;
const maxRequestTokens = 300_000;

const Tokens = z.array(z.int().min(0)).min(1);
const EmbeddingsBody = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()).min(1), Tokens, z.array(Tokens).min(1)]),
  encoding_format: z.enum(['float', 'base64']).default('float'),
  dimensions: z.int().min(1).optional(),
  user: z.string().optional(),
});

interface Input {
  text: string;
  tokens: number;
}

/** The answer of `POST /v1/embeddings`; throws OpenAiError. */
export async function createEmbeddings(body: unknown): Promise<object> {
  const request = parseBody(EmbeddingsBody, body);
  const model = models.get(request.model);
  if (model === undefined) throw modelNotFound(request.model);
  const dimensions = dimensionsOf(request.dimensions, model);
  const inputs = inputsOf(request.input);
  await applyTestMarkers(
    inputs.map(({ text }) => text),
    request.model,
  );
  const tokens = checkedTokens(inputs, typeof request.input === 'string');
  const data = inputs.map(({ text }, index) => {
    const vector = embedText(text, model.dimensions, dimensions);
    return { object: 'embedding', index, embedding: request.encoding_format === 'base64' ? base64Of(vector) : numbersOf(vector) };
  });
  return { object: 'list', data, model: request.model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function dimensionsOf(asked: number | undefined, model: { dimensions: number; isShortenable: boolean }): number {
  if (asked === undefined) return model.dimensions;
  if (!model.isShortenable) throw badRequest('This model does not support specifying dimensions.');
  if (asked > model.dimensions)
    throw badRequest(`Invalid value for 'dimensions' = ${asked}. Must be less than or equal to ${model.dimensions}.`, {
      param: 'dimensions',
    });
  return asked;
}

const invalidInput = () =>
  badRequest("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.");

function inputsOf(input: z.infer<typeof EmbeddingsBody>['input']): Input[] {
  const items = typeof input === 'string' || typeof input[0] === 'number' ? [input as string | number[]] : (input as (string | number[])[]);
  if (items.length > maxInputs || items.includes('')) throw invalidInput();
  return items.map((item) =>
    typeof item === 'string'
      ? { text: item, tokens: countTokens(item) }
      : { text: item.map((token) => `token${token}`).join(' '), tokens: item.length },
  );
}

/** All tokens of the request, which fails as a whole when one input is too long. */
function checkedTokens(inputs: Input[], isSingle: boolean): number {
  const tooLong = inputs.findIndex(({ tokens }) => tokens > maxInputTokens);
  if (tooLong >= 0)
    throw badRequest(`Invalid '${isSingle ? 'input' : `input[${tooLong}]`}': maximum input length is ${maxInputTokens} tokens.`);
  const total = inputs.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total > maxRequestTokens)
    throw badRequest(`Requested ${total} tokens, max ${maxRequestTokens} tokens per request`, {
      type: 'max_tokens_per_request',
      code: 'max_tokens_per_request',
    });
  return total;
}

/** Nine digits tell every float32 from its neighbours. */
const numbersOf = (vector: Float32Array): number[] => Array.from(vector, (value) => Number(value.toPrecision(9)));

/** Little-endian float32, as the vendor's own client asks for. */
function base64Of(vector: Float32Array): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) bytes.setFloat32(index * 4, value, true);
  return Buffer.from(bytes.buffer).toString('base64');
}
