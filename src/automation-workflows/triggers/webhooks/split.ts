import { tooLarge } from '../../../library/errors.ts';
import type { WebhookConfig } from './config.ts';
import { parsePath, readPath, type PathSegment } from '../../../library/json/paths.ts';

/** How many runs one request may start. */
export const maxElements = 500;

/**
 * The elements of a body, each of which is a delivery of its own: the items of the list at `path`, in order. Lists on the way are opened, too:
 * `$.entry.changes.value.messages` finds the messages of every change. What is no list is one element; nothing at the path is none. Throws 413.
 */
export function listElements(body: unknown, path: string): unknown[] {
  const found = parsePath(path).reduce<unknown[]>((values, segment) => values.flatMap((value) => step(value, segment)), [body]);
  const elements = found.flat().filter((element) => element !== null && element !== undefined);
  if (elements.length > maxElements)
    throw tooLarge(`The body has ${elements.length} elements at ${path}; send at most ${maxElements} in one request`);
  return elements;
}

function step(value: unknown, segment: PathSegment): unknown[] {
  const next = readPath(value, [segment]);
  if (next !== undefined) return [next];
  return Array.isArray(value) ? value.flatMap((item) => step(item, segment)) : [];
}

/** Why a request that is split starts nothing. */
export const noElementNote = (config: Pick<WebhookConfig, 'split'> | undefined): string =>
  `The body has no element at ${config?.split ?? 'the path of split'}`;
