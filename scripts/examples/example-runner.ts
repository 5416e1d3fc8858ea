import document from '../../openapi.json' with { type: 'json' };

interface Link {
  parameters?: Record<string, string>;
  requestBody?: Record<string, string>;
  'x-when'?: Record<string, unknown>;
  'x-url'?: string;
}

interface Holder {
  name?: string;
  in?: 'path' | 'query';
  required?: boolean;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Operation {
  operationId: string;
  tags: string[];
  security: Record<string, unknown>[];
  parameters?: Holder[];
  requestBody?: { required?: boolean; content: Record<string, Holder> };
  responses: Record<string, { content?: Record<string, Holder>; links?: Record<string, Link> }>;
}

/** An answer that links lead from, with the name of the example that it answered. */
interface Made {
  example: string;
  link: Link;
  answer: unknown;
}

export interface Origin {
  origin: string;
  key: string;
}

/** An example with what it was answered. */
export interface SentExample {
  operationId: string;
  /** Empty where the operation has one example. */
  name: string;
  url: string;
  init: RequestInit;
  answer: unknown;
}

/** How long the service may take for what it does in the background: calls, documents, syncs. */
const timeoutMs = 30_000;

/**
 * Sends every example of the document, in its order, to a service that has just been started, and answers what did not go well. Values that
 * the service draws at random are taken from earlier answers, as the document's links say.
 */
export class ExampleRunner {
  readonly #service: Origin;
  readonly #made = new Map<string, Made[]>();
  /** Tokens of the sessions that have not been logged out. */
  readonly #sessions: string[] = [];
  readonly sent: SentExample[] = [];
  readonly failures: string[] = [];

  constructor(service: Origin) {
    this.#service = service;
  }

  async run(): Promise<void> {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods as unknown as Record<string, Operation>))
        if (groupsWithExamples.has(operation.tags[0]!) && !neverSent.has(operation.operationId))
          for (const name of namesOf(operation)) await this.#send(method.toUpperCase(), path, operation, name);
  }

  async #send(method: string, path: string, operation: Operation, name: string): Promise<void> {
    const label = name ? `${operation.operationId} (${name})` : operation.operationId;
    const request = this.#requestOf(method, path, operation, name);
    if (typeof request === 'string') return void this.failures.push(`${label}: ${request}`);
    const isRefused = areRefused.has(operation.operationId);
    const response = isRefused
      ? await fetch(request.url, request.init)
      : await retryUntilTimeout(request, filledLater.has(operation.operationId));
    const text = await response.text();
    if (isRefused && [404, 409].includes(response.status)) return;
    if (!response.ok) return void this.failures.push(`${label}: ${response.status} ${text.slice(0, 300)}`);
    const answer = response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
    this.sent.push({ operationId: operation.operationId, name, ...request, answer });
    this.#compare(label, operation, name, answer);
    await this.#remember(operation, name, answer);
  }

  #requestOf(method: string, path: string, operation: Operation, name: string): { url: string; init: RequestInit } | string {
    let filled = path;
    const query = new URLSearchParams();
    const made = this.#takenFor(operation.operationId, name);
    for (const parameter of operation.parameters ?? []) {
      if (!parameter.name) continue;
      const linked = made.flatMap(({ link, answer }) => read(answer, link.parameters?.[`${parameter.in}.${parameter.name}`]) ?? []).at(-1);
      const value = linked ?? valueOf(parameter, name);
      if (value === undefined && parameter.required && !made.some(({ link }) => link['x-url'])) return `no example of ${parameter.name}`;
      if (value === undefined) continue;
      if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
      else query.set(parameter.name, String(value));
    }
    const whole = made.flatMap(({ link, answer }) => read(answer, link['x-url']) ?? []).at(-1);
    const [[type, media] = []] = Object.entries(operation.requestBody?.content ?? {});
    const body = media && withLinked(valueOf(media, name), made);
    if (body === undefined && operation.requestBody?.required) return 'no example of the body';
    return {
      url: whole === undefined ? `${this.#service.origin}${filled}${query.size ? `?${query}` : ''}` : String(whole),
      init: {
        method,
        headers: { ...this.#credentialsFor(operation), ...(body === undefined ? {} : { 'Content-Type': type! }) },
        body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
      },
    };
  }

  #credentialsFor({ security }: Operation): Record<string, string> {
    if (security.length === 0) return {};
    return security.some((one) => 'ApiKey' in one)
      ? { 'X-API-Key': this.#service.key }
      : { Authorization: `Bearer ${this.#sessions.at(-1) ?? ''}` };
  }

  /** What earlier answers made for an example: the answer of the example with the same name, else of the last one. */
  #takenFor(operationId: string, name: string): Made[] {
    const all = this.#made.get(operationId) ?? [];
    const own = all.filter(({ example }) => example === name);
    return own.length ? own : all.slice(-1);
  }

  async #remember({ operationId, responses }: Operation, example: string, answer: any): Promise<void> {
    if (operationId === 'auth.signUp' || operationId === 'auth.logIn') this.#sessions.push(answer.token);
    if (operationId === 'auth.logOut') this.#sessions.pop();
    // Here a person consents.
    if (operationId === 'integrations.connect') await fetch(consentOf(answer.redirect_url));
    for (const response of Object.values(responses))
      for (const [target, link] of Object.entries(response.links ?? {}))
        this.#made.set(target, [...(this.#made.get(target) ?? []), { example, link, answer }]);
  }

  /** The example of an answer names no field that the answer does not have. */
  #compare(label: string, { responses }: Operation, name: string, answer: unknown): void {
    const success = Object.entries(responses).find(([status]) => status.startsWith('2'))![1];
    const [media] = Object.values(success.content ?? {});
    const documented = media && valueOf(media, name);
    if (typeof documented !== 'object' || documented === null || Array.isArray(documented)) return;
    const missing = Object.keys(documented).filter((field) => !(field in Object(answer)));
    if (missing.length) this.failures.push(`${label}: its example answers ${missing.join(', ')}, the service does not`);
  }
}

function consentOf(address: string): URL {
  const url = new URL(address);
  url.searchParams.set('decision', 'approve');
  return url;
}

const holdersOf = (operation: Operation): Holder[] => [
  ...(operation.parameters ?? []),
  ...Object.values(operation.requestBody?.content ?? {}),
];

/** The names of an operation's examples; one without name when it has one, or needs none. */
function namesOf(operation: Operation): string[] {
  const names = new Set(holdersOf(operation).flatMap(({ examples }) => Object.keys(examples ?? {})));
  return names.size ? [...names] : [''];
}

const valueOf = ({ example, examples }: Holder, name: string): unknown => (examples ? examples[name]?.value : example);

/** The groups whose examples have been written. */
const groupsWithExamples = new Set(
  Object.values(document.paths)
    .flatMap((methods) => Object.values(methods as unknown as Record<string, Operation>))
    .filter((operation) =>
      [...holdersOf(operation), ...Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}))].some(
        (one) => 'example' in one || 'examples' in one,
      ),
    )
    .map(({ tags }) => tags[0]!),
);

/** What `$response.body#/a/b` means in an answer. */
function read(answer: unknown, expression: string | undefined): unknown {
  return expression
    ?.replace('$response.body#/', '')
    .split('/')
    .reduce<any>((at, part) => at?.[part], answer);
}

/** The body with the fields that a link fills, where it is a body that the link is meant for. */
function withLinked(body: unknown, made: Made[]): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const filled: Record<string, unknown> = { ...body };
  for (const { link, answer } of made) {
    if (Object.entries(link['x-when'] ?? {}).some(([name, value]) => filled[name] !== value)) continue;
    for (const [name, expression] of Object.entries(link.requestBody ?? {})) if (name in filled) filled[name] = read(answer, expression);
  }
  return filled;
}

/** Lists that are empty until work in the background has been done. */
const filledLater = new Set(['knowledgeBase.listChunks', 'knowledgeBase.search']);

/**
 * They mend what has gone wrong for long, of which a service that has just been started has nothing; or take away the last member of an
 * organization.
 */
const areRefused = new Set([
  'webhookEndpoints.replayDelivery',
  'events.retry',
  'triggers.retryDelivery',
  // The delivery of the example comes after it in the document.
  'triggers.getDelivery',
  'operations.retryStuck',
  'auth.deleteAccount',
  'members.remove',
  'suppressions.confirmProposal',
  'suppressions.dismissProposal',
]);
/** They would end the story, or need a second person, a mail sender, a device with a passkey, or a session after its end. */
const neverSent = new Set([
  'organization.delete',
  'organization.getDeletion',
  'auth.endSession',
  'auth.forgotPassword',
  'members.transferOwnership',
  'members.leave',
  'passkeys.list',
  'passkeys.start',
  'passkeys.add',
  'passkeys.delete',
  'passkeys.startLogIn',
  'passkeys.logIn',
  'invitations.revoke',
  'invitations.join',
]);

const isEmpty = async (response: Response): Promise<boolean> => {
  const answer: any = await response.clone().json();
  return answer.total === 0 || answer.total_results === 0;
};

/** Sends again while the answer may be that something has not happened yet. */
async function retryUntilTimeout({ url, init }: { url: string; init: RequestInit }, awaitsRecords: boolean): Promise<Response> {
  const until = Date.now() + timeoutMs;
  for (;;) {
    const response = await fetch(url, init);
    const isEarly = [404, 409, 429].includes(response.status) || (response.ok && awaitsRecords && (await isEmpty(response)));
    if (!isEarly || Date.now() > until) return response;
    await response.body?.cancel();
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after') ?? 0.5) * 1000));
  }
}
