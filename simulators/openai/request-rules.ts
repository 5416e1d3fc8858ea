import type { z } from 'zod';
import { badRequest, type OpenAiError } from './errors.ts';

const type = 'application/json';

/** The JSON object of a request; throws OpenAiError for another content type and for what is no JSON object. */
export async function readJson(request: Request): Promise<unknown> {
  const given = request.headers.get('content-type') ?? '';
  if (given.split(';')[0]!.trim().toLowerCase() !== type)
    throw badRequest(
      `Unsupported content type: '${given}'. This API method only accepts '${type}' requests, but you specified the header 'Content-Type: ${given}'. Please try again with a supported content type.`,
      { code: 'unsupported_content_type' },
    );
  const body: unknown = await request.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body;
  throw badRequest(
    "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)",
  );
}

/** The body by its schema; the first fault is thrown in the vendor's words. */
export function parseBody<Body>(schema: z.ZodType<Body>, body: unknown): Body {
  if ((body as { model?: unknown }).model === undefined) throw badRequest('you must provide a model parameter');
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw faultOf(parsed.error.issues[0]!, [], body);
}

function faultOf(issue: z.core.$ZodIssue, above: PropertyKey[], body: unknown): OpenAiError {
  const path = [...above, ...issue.path];
  const param = pathText(path);
  const value = path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key], body);
  if (issue.code === 'unrecognized_keys') {
    const unknown = pathText([...path, issue.keys[0]!]);
    return badRequest(`Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
  }
  if (value === undefined) return badRequest(`Missing required parameter: '${param}'.`, { param, code: 'missing_required_parameter' });
  if (issue.code === 'invalid_union') return unionFault(issue, path, body, param, value);
  if (issue.code === 'invalid_type')
    return badRequest(`Invalid type for '${param}': expected ${named(issue.expected)}, but got ${kindOf(value)} instead.`, {
      param,
      code: 'invalid_type',
    });
  if (issue.code === 'invalid_value')
    return badRequest(`Invalid value: '${String(value)}'. Supported values are: ${listed(issue.values.map(String))}.`, {
      param,
      code: 'invalid_value',
    });
  if (issue.code === 'too_small' || issue.code === 'too_big') return sizeFault(issue, param, value);
  return badRequest(`Invalid '${param}': ${issue.message}`, { param, code: 'invalid_value' });
}

/** The fault of the alternative that matched furthest; if none matched at all, the list of what is allowed. */
function unionFault(issue: z.core.$ZodIssueInvalidUnion, path: PropertyKey[], body: unknown, param: string, value: unknown): OpenAiError {
  const deepest = issue.errors.flat().find((inner) => inner.path.length > 0 || inner.code !== 'invalid_type');
  if (deepest) return faultOf(deepest, path, body);
  const expected = issue.errors.flat().map((inner) => (inner.code === 'invalid_type' ? named(inner.expected) : ''));
  return badRequest(
    `Invalid type for '${param}': expected one of ${[...new Set(expected)].join(' or ')}, but got ${kindOf(value)} instead.`,
    { param, code: 'invalid_type' },
  );
}

function sizeFault(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, param: string, value: unknown): OpenAiError {
  const isSmall = issue.code === 'too_small';
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  const edge = isSmall ? 'minimum' : 'maximum';
  const side = isSmall ? 'below_min' : 'above_max';
  if (typeof value === 'number')
    return badRequest(
      `Invalid '${param}': integer ${isSmall ? 'below' : 'above'} ${edge} value. Expected a value ${isSmall ? '>=' : '<='} ${limit}, but got ${value} instead.`,
      { param, code: `integer_${side}_value` },
    );
  const kind = Array.isArray(value) ? 'array' : 'string';
  const { length } = value as string | unknown[];
  if (length === 0)
    return badRequest(
      `Invalid '${param}': empty ${kind}. Expected ${named(kind)} with minimum length ${limit}, but got an empty ${kind} instead.`,
      {
        param,
        code: `empty_${kind}`,
      },
    );
  return badRequest(
    `Invalid '${param}': ${kind} too ${isSmall ? 'short' : 'long'}. Expected ${named(kind)} with ${edge} length ${limit}, but got ${named(kind)} with length ${length} instead.`,
    { param, code: `${kind}_${side}_length` },
  );
}

const pathText = (path: PropertyKey[]): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('');

const names: Record<string, string> = { array: 'an array', object: 'an object', int: 'an integer', number: 'a decimal' };
const named = (expected: string): string => names[expected] ?? `a ${expected}`;

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  return named(typeof value);
}

const listed = (values: string[]): string => {
  const quoted = values.map((value) => `'${value}'`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')}${quoted.length > 2 ? ',' : ''} and ${quoted.at(-1)}`;
};
