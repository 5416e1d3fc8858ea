import { basePath } from '../../http/public-url.ts';
import { forbidden } from '../../library/errors.ts';
import type { Scope } from '../../context.ts';

/** What each path needs, the first that fits. `methods` absent: every method that is no reading. */
interface Rule {
  path: RegExp;
  methods?: readonly string[];
  /** Any of these is enough; the least comes first. None: the call is about the caller's own account. */
  needs: readonly Scope[];
}

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
const adminScopes: readonly Scope[] = ['admin', 'owner'];
const operateScopes: readonly Scope[] = ['operate', 'write', ...adminScopes];
const readScopes: readonly Scope[] = ['read', ...operateScopes];
/** `write` alone covers neither keys nor members, not even their lists. */
const readPeopleScopes: readonly Scope[] = ['read', ...adminScopes];

const rules: readonly Rule[] = [
  { path: /^\/auth\//, methods: everyMethod, needs: [] },
  { path: /^\/organizations\/leave$/, needs: [] },
  { path: /^\/organizations\/current$/, methods: ['DELETE'], needs: ['owner'] },
  { path: /^\/organizations\/ownership$/, needs: ['owner'] },
  { path: /^\/organizations\/invitations(\/|$)/, methods: everyMethod, needs: adminScopes },
  { path: /^\/organizations\/contact-policy$/, needs: adminScopes },
  { path: /^\/(audit-log|operations)(\/|$)/, methods: everyMethod, needs: adminScopes },
  { path: /^\/(user\/api-keys|organizations\/members)(\/|$)/, methods: ['GET', 'HEAD'], needs: readPeopleScopes },
  { path: /^\/(user\/api-keys|organizations\/members)(\/|$)/, needs: adminScopes },
  { path: /^\/organizations\/current$/, methods: ['PATCH'], needs: adminScopes },
  { path: /^\/(knowledge-base\/search|campaign\/preview)$/, methods: ['POST'], needs: readScopes },
  // Whom the organization must not call is a rule of it: an operator adds to it, and takes nothing from it.
  { path: /^\/contacts\/suppressions$/, methods: ['POST'], needs: operateScopes },
  { path: /^\/contacts\/suppressions\/(import|proposals\/[^/]+\/(confirm|dismiss))$/, needs: operateScopes },
  { path: /^\/contacts\/suppressions(\/|$)/, needs: ['write', ...adminScopes] },
  { path: /^\/(contacts|campaign|events|simtest|calls)(\/|$)/, needs: operateScopes },
  { path: /^\/workflow\/[^/]+\/runs(\/|$)/, needs: operateScopes },
  {
    path: /^\/automation-workflows\/(runs\/|[^/]+\/(execute|test)$|[^/]+\/triggers\/[^/]+\/(fire|deliveries)(\/|$))/,
    needs: operateScopes,
  },
];

/**
 * The scopes of which a call needs one, the least first; none where it is about the caller's own account. `read` is every GET and the POSTs that
 * write nothing; `operate` all that is done with contacts, campaigns, calls, runs and tests; `write` everything but the API keys, the members
 * and changes of the organization; `admin` everything but what the owners alone may; `owner` everything. `path` includes the base path.
 */
export function acceptedScopes(method: string, path: string): readonly Scope[] {
  const below = path.slice(basePath.length).replace(/\/$/, '');
  const isReading = method === 'GET' || method === 'HEAD';
  const rule = rules.find(({ path: pattern, methods }) => pattern.test(below) && (methods ? methods.includes(method) : !isReading));
  return rule?.needs ?? (isReading ? readScopes : ['write', ...adminScopes]);
}

/** The least scope that `scopes` lack for the call, null when they cover it. */
export function missingScope(scopes: readonly Scope[], method: string, path: string): Scope | null {
  const accepted = acceptedScopes(method, path);
  return accepted.length === 0 || accepted.some((scope) => scopes.includes(scope)) ? null : accepted[0]!;
}

/** Throws 403 naming the scopes of which one is missing. */
export function requireScope(scopes: readonly Scope[], method: string, path: string): void {
  if (missingScope(scopes, method, path) === null) return;
  const accepted = acceptedScopes(method, path).filter((scope) => scope !== 'owner');
  const own = scopes.filter((scope) => scope !== 'owner').join(', ');
  if (accepted.length === 0) throw forbidden(`insufficient_scope: only an owner of the organization may do this; your scopes are ${own}`);
  const needed = accepted.map((scope) => `"${scope}"`).join(' or ');
  throw forbidden(`insufficient_scope: this call needs a role or an API key with the scope ${needed}; its scopes are ${own}`);
}
