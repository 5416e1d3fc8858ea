import type { RandomSource } from './random-source.ts';
import { hostileHeaders, isFramingHeader } from './headers.ts';
import type { JudgedRequest } from './find-faults.ts';
import { mutateBody, plantSecret } from './mutate-body.ts';
import { operations, type Operation } from './operations.ts';
import { hostileId, hostileText, hostileValue } from './hostile-values.ts';
import type { WireRequest } from './send-request.ts';
import { bodyText, findKnownId, insertKnownIds, type FuzzTarget } from './fuzz-target.ts';

export interface BuiltRequest {
  wire: WireRequest;
  question: JudgedRequest;
  /** With the world's own sound key: a 401 then means that the key has been lost on the way. */
  isSigned: boolean;
}

/** The organizations whose records and secrets requests are built from. */
export interface FuzzContext {
  world: FuzzTarget;
  /** Another organization, whose secrets and records must never show. */
  stranger: FuzzTarget;
}

/** Of the requests that delete records, the share that names records of others: otherwise soon none would be left. */
const spared = 0.85;
const oddMethods = ['HEAD', 'OPTIONS', 'TRACE', 'PATCH', 'PUT', 'DELETE', 'PROPFIND', 'get', 'QUERY'];
const oddPaths = [
  '/',
  '/api',
  '/api/v1',
  '/api/v1/',
  '/api/v2/contacts',
  '/api/v1//contacts',
  '/API/V1/contacts',
  '/docs/../api/v1/contacts',
  '/docs/%2e%2e/wrangler.toml',
  '/mcp',
];

/** The request of a draw. Operations come all as often. */
export function buildRequest(draw: RandomSource, { world, stranger }: FuzzContext): BuiltRequest {
  const secret = `planted${draw.below(2 ** 31).toString(36)}secret`;
  const operation = draw.of(operations);
  const isElsewhere = draw.chance(0.02);
  const target = isElsewhere
    ? draw.of(oddPaths) + (draw.chance(0.3) ? `/${hostileId(draw)}` : '')
    : buildTarget(draw, operation, { world, stranger });
  const hasOddMethod = draw.chance(0.02);
  const method = hasOddMethod ? draw.of(oddMethods) : operation.method;
  const { body, toldLength, isPlanted } = buildBody(draw, operation, world, secret);
  const credentials = buildCredentials(draw, { world, stranger });
  const headers = [...credentials.headers, ...chooseContentType(draw, operation, body), ...hostileHeaders(draw)];
  const isWellFormed =
    toldLength === undefined && /^[A-Z]+$/.test(method) && !headers.some(isFramingHeader) && !/[^\x21-\x7e]/.test(target);
  return {
    wire: { method, target, headers, body, toldLength },
    question: {
      operation: isElsewhere || hasOddMethod ? null : operation,
      method,
      isWellFormed,
      secrets: [...stranger.secrets, ...ownSecrets(operation, credentials.isSigned, world), ...(isPlanted ? [secret] : [])],
    },
    isSigned: credentials.isSigned,
  };
}

/** The sender's own secrets that the answer must not contain. Operations of `auth` show keys and sessions when they are made. */
const ownSecrets = (operation: Operation, isSigned: boolean, { secrets }: FuzzTarget): string[] =>
  isSigned && operation.id.startsWith('auth.') ? [] : secrets;

function buildTarget(draw: RandomSource, operation: Operation, { world, stranger }: FuzzContext): string {
  const isSpared = operation.method === 'DELETE' || /logout|password|sessions/i.test(operation.path);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
    const kind = draw.share();
    if (kind < (isSpared ? spared : 0.12))
      return kind < 0.05 ? String(findKnownId(operation.path, name, stranger.known) ?? 1) : hostileId(draw);
    return encodeURIComponent(String(findKnownId(operation.path, name, world.known) ?? draw.of(['1', 'chatapp', 'recording', 'sheet'])));
  });
  const query = buildQuery(draw, operation, world);
  return path + (query.length === 0 ? '' : `?${query.join('&')}`);
}

function buildQuery(draw: RandomSource, { query, path }: Operation, world: FuzzTarget): string[] {
  const isSigned = path.startsWith('/api/v1/uploads/') || path.startsWith('/api/v1/artifacts/');
  const before = path.includes('/uploads/knowledge-base/') ? 'kb_' : '';
  const isSound = draw.chance(0.35);
  const pairs = query.flatMap(({ name, examples }): [string, string][] => {
    const sound = isSigned ? world.known[`${before}${name}`] : examples.length > 0 ? draw.of(examples) : undefined;
    if (sound === undefined && isSound) return [];
    if (!draw.chance(isSigned ? 0.95 : 0.3)) return [];
    return [
      [
        name,
        draw.chance(isSound ? 0 : isSigned ? 0.1 : 0.5)
          ? oddQuery(draw, name)
          : sound === undefined
            ? oddQuery(draw, name)
            : percent(sound),
      ],
    ];
  });
  if (draw.chance(0.05)) pairs.push([percent(hostileText(draw).slice(0, 200)), oddQuery(draw, 'x')]);
  if (draw.chance(0.05) && pairs.length > 0) pairs.push(pairs[0]!);
  if (draw.chance(0.005)) pairs.push(...Array.from({ length: 800 }, (_, index): [string, string] => [`x${index}`, '1']));
  // The runtime itself refuses longer queries.
  return pairs.map(([name, value]) => `${name}=${value}`).filter((pair) => pair.length < 8000);
}

const cursors = ['', 'x', 'eyJ9', 'bnVsbA==', 'eyJpZCI6LTF9', 'eyJzb3J0IjpbMSwyXX0', '_'.repeat(500), 'W10', 'e30'];
const numbers = ['-1', '0', '501', '1e9', '1.5', '99999999999999999999', 'NaN', 'Infinity', '0x10', ' 5', '5 ', '', '%00', '١٢'];

function oddQuery(draw: RandomSource, name: string): string {
  if (name === 'cursor' && draw.chance(0.7)) return percent(draw.of(cursors));
  if (/limit|offset|_id$|expires|bytes/.test(name) && draw.chance(0.7)) return percent(draw.of(numbers));
  if (draw.chance(0.15)) return draw.of(['%', '%zz', '%c0%af', '%ff%fe', '%00', '+', '%2500', '&&', '=', '[]', '%ED%A0%80']);
  return percent(hostileText(draw))
    .slice(0, 4000)
    .replace(/%[0-9A-F]?$/, '');
}

const percent = (value: unknown): string =>
  encodeURIComponent((typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed());

function buildCredentials(draw: RandomSource, { world, stranger }: FuzzContext): { headers: [string, string][]; isSigned: boolean } {
  const kind = draw.share();
  if (kind < 0.8) return { headers: [['X-API-Key', world.key]], isSigned: true };
  if (kind < 0.9 && world.token !== '') return { headers: [['Authorization', `Bearer ${world.token}`]], isSigned: true };
  if (kind < 0.93) return { headers: [], isSigned: false };
  // With the stranger's credentials, records of this world are another's.
  if (kind < 0.96) return { headers: [['X-API-Key', stranger.key]], isSigned: false };
  const wrong = [
    'vaa_',
    'vaa_nonsense',
    `vaa_${'a'.repeat(5000)}`,
    "' OR 1=1 --",
    '\u00e9\u00ff',
    world.key.toUpperCase(),
    `${world.key}x`,
  ];
  const names = ['X-API-Key', 'Authorization', 'Cookie'];
  const name = draw.of(names);
  const value = draw.of(wrong);
  return {
    headers: [
      [name, name === 'Cookie' ? `session=${value}` : name === 'Authorization' ? `${draw.of(['Bearer', 'Basic', ''])} ${value}` : value],
    ],
    isSigned: false,
  };
}

const oddTypes = [
  'text/plain',
  'application/xml',
  'application/json; charset=utf-16',
  'application/json;;',
  'multipart/form-data; boundary=x',
  'multipart/form-data',
  'application/x-www-form-urlencoded',
  '',
  'a',
  'application/json, text/html',
  'APPLICATION/JSON',
  `application/json; x=${'a'.repeat(3000)}`,
];

function chooseContentType(draw: RandomSource, { contentType }: Operation, body: Buffer | null): [string, string][] {
  if (body === null) return [];
  return draw.chance(0.06)
    ? [['Content-Type', draw.of(oddTypes)]]
    : [['Content-Type', contentType === '*/*' || contentType === '' ? 'application/json' : contentType]];
}

interface Body {
  body: Buffer | null;
  toldLength?: number;
  isPlanted: boolean;
}

const rarelyOdd = 0.1;
/** The share of unchanged bodies, which create records for hostile requests to use. */
const fillValid = 0.2;

function buildBody(draw: RandomSource, operation: Operation, world: FuzzTarget, secret: string): Body {
  if (operation.bodies.length === 0) return { body: draw.chance(0.1) ? Buffer.from(bodyText(hostileValue(draw))) : null, isPlanted: false };
  const sound = insertKnownIds(draw.of(operation.bodies), world.known);
  const isOddAsBytes = draw.chance(rarelyOdd);
  const body = typeof sound === 'string' || isOddAsBytes || draw.chance(fillValid) ? sound : mutateBody(draw, sound);
  // Planted last, so that it stands in no other field.
  const isPlanted = plantSecret(body, secret);
  if (isOddAsBytes) return { ...oddBody(draw, bodyText(body)), isPlanted };
  const more = typeof sound === 'string' && draw.chance(0.7) ? hostileText(draw) : '';
  return { body: Buffer.from(bodyText(body) + more), isPlanted };
}

/** A body that is wrong byte-wise, such as one that is cut off. */
function oddBody(draw: RandomSource, text: string): Omit<Body, 'isPlanted'> {
  const bytes = Buffer.from(text);
  const cut = draw.below(bytes.length + 1);
  const whole: (() => Buffer)[] = [
    () => bytes.subarray(0, cut),
    () => Buffer.alloc(0),
    () => Buffer.from('null'),
    () => Buffer.concat([Buffer.from('\ufeff'), bytes]),
    () => Buffer.concat([bytes.subarray(0, cut), Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0x00]), bytes.subarray(cut)]),
    () => Buffer.from(text, 'utf16le'),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.from(`${text.slice(0, -1)},}`),
    () => Buffer.from(text.replaceAll('"', "'")),
    () => Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    () => Buffer.from('{"a":'.repeat(50_000)),
    () => Buffer.from(`"${'a'.repeat(1_200_000)}"`),
    () => Buffer.from(`[${'1,'.repeat(400_000)}1]`),
    () => Buffer.from('a=1&'.repeat(100_000)),
    () => Buffer.from(`--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n${text}\r\n`),
    () => Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff]),
    () => Buffer.from(`<?xml version="1.0"?><a>${text}</a>`),
  ];
  if (draw.chance(0.1)) return { body: bytes.subarray(0, cut), toldLength: bytes.length + 1 + draw.below(100) };
  return { body: draw.of(whole)() };
}
