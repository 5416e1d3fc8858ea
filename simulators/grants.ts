/** A person's grant to a broker at one vendor. */
export interface Grant {
  /** The customer at the vendor; each customer has separate data there. */
  customer: string;
  /** Undefined: everything. */
  scopes?: string[] | undefined;
  /** The connection's target: the site of a tracker, the data centre of books. */
  params?: Record<string, string> | undefined;
}

const prefix = 'simulated.';

/** An access token. It says what it grants, so that no vendor has to ask the broker. */
export const toToken = (grant: Grant): string => prefix + Buffer.from(JSON.stringify(grant)).toString('base64url');

/**
 * What a token grants; undefined: it is none. A token that no broker has issued is good for everything, in the world of the customer of this
 * name, unless it contains `invalid`.
 */
function parseToken(token: string): Grant | undefined {
  if (token.startsWith(prefix)) return JSON.parse(Buffer.from(token.slice(prefix.length), 'base64url').toString()) as Grant;
  return token === '' || token.includes('invalid') ? undefined : { customer: token };
}

/** The grant of an Authorization header with this scheme; `missing` without one. */
export function parseAuthorization(authorization: string | undefined, scheme: string): Grant | 'missing' | 'invalid' {
  const [given, token = ''] = (authorization ?? '').trim().split(/\s+/, 2);
  if (given?.toLowerCase() !== scheme.toLowerCase() || token === '') return 'missing';
  return parseToken(token) ?? 'invalid';
}

export const hasAnyScope = ({ scopes }: Grant, ...anyOf: string[]): boolean =>
  scopes === undefined || scopes.some((scope) => anyOf.includes(scope));

/** Data for each customer, created at its first use. */
export function createPerCustomer<State>(create: () => State): (customer: string) => State {
  const worlds = new Map<string, State>();
  return (customer) => {
    const known = worlds.get(customer) ?? create();
    worlds.set(customer, known);
    return known;
  };
}

/** The JSON object of a request; undefined when it is none, or is sent as something else. */
export async function readJsonObject(request: Request): Promise<Record<string, unknown> | undefined> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? '')) return undefined;
  const body: unknown = await request.json().catch(() => undefined);
  return typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : undefined;
}
