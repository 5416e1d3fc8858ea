import { isMask, isSealed } from './encryption.ts';
import { decodePercents, originOf, replaceSecretParameters } from './url-secrets.ts';
import { isRecord } from '../json/json.ts';
import { isUrlField, isSecretParameter, isNonSecretHeader, isSecretField } from './secret-names.ts';
import { percentEncoded } from '../text/clean-text.ts';

/** A secret in a definition, a config, a node's data or the record of a step. */
export interface FoundSecret {
  text: string;
  /** The path to the secret: field names and, in lists, ids or indexes. */
  loc: string[];
  /** Identifies the place, so that an older version of the value can be searched for the same secret. */
  place: string;
  /** The origins of all addresses in the objects around the secret. The secret must not be sent to another origin. */
  addresses: string;
}

/** The part of a request that a value belongs to. Addresses inside a `body` are content, and nothing is sent to them. */
type Section = 'fields' | 'body' | 'headers' | 'query';

interface Location {
  loc: string[];
  place: string;
  addresses: string;
  section: Section;
}

type Replace = (found: FoundSecret) => string;

/**
 * Copies `value` with every secret replaced. Secrets are:
 * - fields such as `token` and `password`,
 * - every header that is not known to be public,
 * - query parameters that look like keys, in `query` and in the text of an address.
 * Headers and queries are objects, or lists of `{ key, value }`.
 */
export const replaceSecrets = <T>(value: T, replace: Replace): T =>
  replaceIn(value, { loc: [], place: '', addresses: '', section: 'fields' }, replace) as T;

function replaceIn(value: unknown, at: Location, replace: Replace): unknown {
  if (Array.isArray(value)) return value.map((item, index) => replaceIn(item, atItem(at, item, index), replace));
  if (!isRecord(value)) return value;
  const here = at.section === 'fields' ? { ...at, addresses: at.addresses + collectAddresses(value) } : at;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      replaceField(item, isSecretPlace(name, value, at.section), name, atField(here, name), replace),
    ]),
  );
}

function replaceField(item: unknown, isSecret: boolean, name: string, at: Location, replace: Replace): unknown {
  const { loc, place, addresses, section: within } = at;
  const isSent = within === 'headers' || within === 'query';
  if (isSecret && Array.isArray(item) && isSent)
    return item.map((one, index) => replaceField(one, true, name, atItem(at, one, index), replace));
  if (isSecret && typeof item === 'number' && within === 'query') return replace({ text: String(item), loc, place, addresses });
  if (typeof item !== 'string' || item === '') return replaceIn(item, at, replace);
  if (isSecret) return replace({ text: item, loc, place, addresses });
  if (isSent || !isUrlField(name)) return item;
  return replaceSecretParameters(item, (found) => {
    const plain = decodePercents(found.value);
    const text = isSealed(plain) || isMask(plain) ? plain : found.value;
    const replaced = replace({ text, loc, place: `${place}?${found.name}/${found.occurrence}`, addresses });
    return isSealed(replaced) ? percentEncoded(replaced) : replaced;
  });
}

/** Whether the field `name` of the object `owner` holds a secret. */
function isSecretPlace(name: string, owner: Record<string, unknown>, within: Section): boolean {
  if (within !== 'headers' && within !== 'query') return isSecretField(name);
  const isSecretName = within === 'headers' ? (header: string) => !isNonSecretHeader(header) : isSecretParameter;
  return isListItem(owner) ? name === 'value' && isSecretName(owner.key) : isSecretName(name);
}

const isListItem = (owner: Record<string, unknown>): owner is { key: string; value: unknown } =>
  typeof owner['key'] === 'string' && 'value' in owner;

const atField = (at: Location, name: string): Location => ({
  ...at,
  loc: [...at.loc, name],
  place: `${at.place}/${name}`,
  section: sectionOfField(at.section, name),
});

function sectionOfField(within: Section, name: string): Section {
  if (within === 'headers' || within === 'query') return within;
  if (/(^|_)headers$/.test(name)) return 'headers';
  if (within === 'body' || name === 'body' || name === 'payload_template') return 'body';
  return name === 'query' ? 'query' : 'fields';
}

/** The location of a list's item: nodes by id and headers by name, so that their order does not matter. */
function atItem(at: Location, item: unknown, index: number): Location {
  const id = isRecord(item) && typeof item['id'] === 'string' ? item['id'] : undefined;
  const isSent = at.section === 'headers' || at.section === 'query';
  const key = isSent && isRecord(item) && isListItem(item) ? item.key : undefined;
  return { ...at, loc: [...at.loc, id ?? String(index)], place: `${at.place}/${id ?? key ?? index}` };
}

function collectAddresses(owner: Record<string, unknown>): string {
  const addresses = Object.entries(owner).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' && isUrlField(name) ? [`${name}=${originOf(text)}\n`] : [],
  );
  return addresses.toSorted().join('');
}
