import { isMask, isSealed } from '../library/encryption.ts';
import { decoded, originOf, replaceKeyValues } from '../library/addresses.ts';
import { isRecord } from '../library/json.ts';
import { isAddressField, isKeyParameter, isPlainHeader, isSecretField } from '../library/secret-names.ts';
import { percentEncoded } from '../library/clean-text.ts';

/** A secret that stands in a definition, a config, a node's data or what is shown of a step. */
export interface FoundSecret {
  text: string;
  /** Field names and, in lists, ids or indexes. */
  loc: string[];
  /** Names the place, so that an older value can be found there. */
  place: string;
  /** Where the objects around it lead, in one text: to another place the secret must not go. */
  addresses: string;
}

/** A body is sent to an address; addresses in it are none that anything is sent to. */
type Within = 'fields' | 'body' | 'headers' | 'query';

interface At {
  loc: string[];
  place: string;
  addresses: string;
  within: Within;
}

type Replace = (found: FoundSecret) => string;

/**
 * Copies `value` with every secret in it replaced. Secrets are: fields such as `token` and `password`, every header that is not known as a plain one, and
 * parameters of a query that look like keys, in `query` and in the text of an address. Headers and queries are objects, or lists of
 * `{ key, value }`.
 */
export const replaceSecrets = <T>(value: T, replace: Replace): T =>
  replacedIn(value, { loc: [], place: '', addresses: '', within: 'fields' }, replace) as T;

function replacedIn(value: unknown, at: At, replace: Replace): unknown {
  if (Array.isArray(value)) return value.map((item, index) => replacedIn(item, inList(at, item, index), replace));
  if (!isRecord(value)) return value;
  const here = at.within === 'fields' ? { ...at, addresses: at.addresses + addressesIn(value) } : at;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      visited(item, isSecretPlace(name, value, at.within), name, inField(here, name), replace),
    ]),
  );
}

function visited(item: unknown, isSecret: boolean, name: string, at: At, replace: Replace): unknown {
  const { loc, place, addresses, within } = at;
  const isSent = within === 'headers' || within === 'query';
  if (isSecret && Array.isArray(item) && isSent) return item.map((one, index) => visited(one, true, name, inList(at, one, index), replace));
  if (isSecret && typeof item === 'number' && within === 'query') return replace({ text: String(item), loc, place, addresses });
  if (typeof item !== 'string' || item === '') return replacedIn(item, at, replace);
  if (isSecret) return replace({ text: item, loc, place, addresses });
  if (isSent || !isAddressField(name)) return item;
  return replaceKeyValues(item, (found) => {
    const plain = decoded(found.value);
    const text = isSealed(plain) || isMask(plain) ? plain : found.value;
    const replaced = replace({ text, loc, place: `${place}?${found.name}/${found.occurrence}`, addresses });
    return isSealed(replaced) ? percentEncoded(replaced) : replaced;
  });
}

/** `owner` is the object that has the field. */
function isSecretPlace(name: string, owner: Record<string, unknown>, within: Within): boolean {
  if (within !== 'headers' && within !== 'query') return isSecretField(name);
  const isSecretName = within === 'headers' ? (header: string) => !isPlainHeader(header) : isKeyParameter;
  return isListItem(owner) ? name === 'value' && isSecretName(owner.key) : isSecretName(name);
}

const isListItem = (owner: Record<string, unknown>): owner is { key: string; value: unknown } =>
  typeof owner['key'] === 'string' && 'value' in owner;

const inField = (at: At, name: string): At => ({
  ...at,
  loc: [...at.loc, name],
  place: `${at.place}/${name}`,
  within: withinField(at.within, name),
});

function withinField(within: Within, name: string): Within {
  if (within === 'headers' || within === 'query') return within;
  if (/(^|_)headers$/.test(name)) return 'headers';
  if (within === 'body' || name === 'body' || name === 'payload_template') return 'body';
  return name === 'query' ? 'query' : 'fields';
}

/** Nodes are known by their id and headers by their name, wherever in the list they stand. */
function inList(at: At, item: unknown, index: number): At {
  const id = isRecord(item) && typeof item['id'] === 'string' ? item['id'] : undefined;
  const isSent = at.within === 'headers' || at.within === 'query';
  const key = isSent && isRecord(item) && isListItem(item) ? item.key : undefined;
  return { ...at, loc: [...at.loc, id ?? String(index)], place: `${at.place}/${id ?? key ?? index}` };
}

function addressesIn(owner: Record<string, unknown>): string {
  const addresses = Object.entries(owner).flatMap(([name, text]) =>
    typeof text === 'string' && text !== '' && isAddressField(name) ? [`${name}=${originOf(text)}\n`] : [],
  );
  return addresses.toSorted().join('');
}
