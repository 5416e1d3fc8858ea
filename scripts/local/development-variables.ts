import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

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

/** Creates or completes the file, readable by its owner only, and answers the names that it sets. */
export function ensureDevelopmentVariables(file: string): Set<string> {
  const existing = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const complete = completeVariables(existing);
  if (complete !== existing) writeFileSync(file, complete, { mode: 0o600 });
  return variableNames(complete);
}
