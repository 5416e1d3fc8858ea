import { isSecretParameter } from './secret-names.ts';

/**
 * The receiver of a request to an address: the origin, in one spelling. For an address whose scheme, host or port comes from a template,
 * and for text that is no address, the whole text, since nobody can tell where it leads.
 */
export function originOf(address: string): string {
  const text = address.trim();
  const template = text.search(/\{\{|\{%/);
  const fixed = template < 0 ? text : text.slice(0, template);
  if (template >= 0 && !/^https?:\/\/[^/\\?#]+[/\\?#]/i.test(fixed)) return text;
  return URL.canParse(fixed) && /^https?:/i.test(fixed) ? new URL(fixed).origin : text;
}

interface SecretParameter {
  name: string;
  value: string;
  /** Among the parameters of the same name, from 0. */
  occurrence: number;
}

/** Replaces the values of the query parameters whose names look like keys. Templates are left whole. */
export function replaceSecretParameters(address: string, replace: (found: SecretParameter) => string): string {
  const begin = address.indexOf('?');
  if (begin < 0) return address;
  const end = findOutsideTemplate(address, begin + 1, '#');
  const seen = new Map<string, number>();
  const parameters: string[] = [];
  for (let at = begin + 1; at <= end;) {
    const next = Math.min(findOutsideTemplate(address, at, '&'), end);
    parameters.push(replaceParameter(address.slice(at, next), seen, replace));
    at = next + 1;
  }
  return `${address.slice(0, begin + 1)}${parameters.join('&')}${address.slice(end)}`;
}

function replaceParameter(parameter: string, seen: Map<string, number>, replace: (found: SecretParameter) => string): string {
  const [, written = '', value = ''] = /^([^=]*)=([^]*)$/.exec(parameter) ?? [];
  const name = decodePercents(written);
  if (value === '' || !isSecretParameter(name)) return parameter;
  const occurrence = seen.get(name) ?? 0;
  seen.set(name, occurrence + 1);
  return `${written}=${replace({ name, value, occurrence })}`;
}

/** An address as it may be shown. */
export const maskUrl = (address: string): string => replaceSecretParameters(address, () => '****');

/** Percent-decoded, or as it is where that is not possible. */
export function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/** The next position of `character` outside of a template, or the end of the text. */
function findOutsideTemplate(text: string, from: number, character: string): number {
  let isTemplate = false;
  for (let at = from; at < text.length; at++) {
    const pair = text.slice(at, at + 2);
    if (pair === '{{' || pair === '{%') isTemplate = true;
    else if (pair === '}}' || pair === '%}') isTemplate = false;
    else if (!isTemplate && text[at] === character) return at;
  }
  return text.length;
}
