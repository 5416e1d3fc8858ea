import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { portVariables, readLocalSettings } from './settings.ts';

const randomSecret = () => randomBytes(32).toString('base64');

/** What a local service needs beside `wrangler.toml`: secrets of this machine, and the switches that make it a local one. */
const localVariables: Record<string, () => string> = {
  ENCRYPTION_KEY: randomSecret,
  SIGNING_KEY: randomSecret,
  DEPLOYMENT_MODE: () => 'local',
  SIGNUP: () => 'open',
};

/** The names that a `.dev.vars` text sets, comments left out. */
export function variableNames(text: string): Set<string> {
  return new Set([...text.matchAll(/^\s*(?:export\s+)?([\w.-]+)\s*=/gm)].map(([, name]) => name!));
}

/** `text` with every missing local variable added. What is set stays as it is: another key would make stored secrets unreadable. */
export function completeVariables(text: string): string {
  const present = variableNames(text);
  const added = Object.entries(localVariables).flatMap(([name, create]) => (present.has(name) ? [] : [`${name}="${create()}"\n`]));
  return added.length === 0 ? text : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${added.join('')}`;
}

const beginMark = '# Begin of what "wrangler dev" writes at each start. To change one of these, set it outside of this part.\n';
const endMark = '# End\n';

/** What the owner of the file has written, and the part between the marks, which may be missing. */
function split(text: string): { own: string; derived: string } {
  const begin = text.indexOf(beginMark);
  const end = text.indexOf(endMark, begin);
  if (begin === -1 || end === -1) return { own: text, derived: '' };
  return { own: text.slice(0, begin) + text.slice(end + endMark.length), derived: text.slice(begin, end + endMark.length) };
}

type Variables = Record<string, string>;

/**
 * Creates or completes the file, readable by its owner only; returns the names that its owner sets. `derive` makes the part between the marks from
 * these names and the present text. Without `derive` that part only loses the names that the owner has set since.
 */
export function ensureDevelopmentVariables(
  file: string,
  derive: (alreadySet: Set<string>, written: Variables) => Variables = withoutOverruled,
): Set<string> {
  const existing = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const { own, derived } = split(existing);
  const completed = completeVariables(own);
  const alreadySet = variableNames(completed);
  const variables = derive(alreadySet, readDerived(derived));
  const text = completed + (derived === '' && Object.keys(variables).length === 0 ? '' : derivedPart(variables));
  if (text !== existing) writeFileSync(file, text, { mode: 0o600 });
  return alreadySet;
}

const derivedPart = (variables: Variables) =>
  [beginMark, ...Object.entries(variables).map(([name, value]) => `${name}="${value}"\n`), endMark].join('');

const readDerived = (part: string): Variables =>
  Object.fromEntries([...part.matchAll(/^(\w+)="(.*)"$/gm)].map(([, name, value]) => [name!, value!]));

/** A provider's key and address belong together: where the owner sets one, the simulated other goes, too. */
function withoutOverruled(alreadySet: Set<string>, written: Variables): Variables {
  const meant = portVariables(readLocalSettings({}), alreadySet);
  return Object.fromEntries(Object.entries(written).filter(([name]) => Object.hasOwn(meant, name)));
}
