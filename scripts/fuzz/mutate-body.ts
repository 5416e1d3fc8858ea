import { isSecretField } from '../../src/library/security/secret-names.ts';
import type { RandomSource } from './random-source.ts';
import { cloneJson, hostileText, hostileValue, isJsonContainer, toJsonText, type JsonContainer } from './hostile-values.ts';

interface Place {
  holder: JsonContainer;
  key: string | number;
}

/** A sound body with one to three of its values made hostile, taken away, doubled or put elsewhere. */
export function mutateBody(draw: RandomSource, body: unknown): unknown {
  if (draw.chance(0.05)) return hostileValue(draw);
  const root = { body: cloneJson(body) };
  for (let changes = 1 + draw.below(3); changes > 0; changes--) change(draw, root);
  return root.body;
}

/** Puts the secret into all fields for secrets; returns whether there was such a field. */
export function plantSecret(body: unknown, secret: string): boolean {
  const places = listPlaces({ body }).filter(
    ({ holder, key }) => typeof key === 'string' && isSecretField(key) && typeof at({ holder, key }) === 'string',
  );
  for (const { holder, key } of places) (holder as Record<string, unknown>)[key] = secret;
  return places.length > 0;
}

function change(draw: RandomSource, root: { body: unknown }): void {
  const places = listPlaces(root);
  const place = draw.of(places);
  const holder = place.holder as Record<string | number, unknown>;
  const kind = draw.share();
  if (kind < 0.6) holder[place.key] = hostileValue(draw);
  else if (kind < 0.7) remove(place);
  else if (kind < 0.8) add(draw, at(place), () => hostileValue(draw));
  else if (kind < 0.88) holder[place.key] = draw.of([[at(place)], { value: at(place) }, [at(place), at(place)]]);
  else if (kind < 0.94) holder[place.key] = cloneJson(at(draw.of(places)));
  else flood(draw, place);
}

const at = ({ holder, key }: Place): unknown => (holder as Record<string | number, unknown>)[key];

function remove({ holder, key }: Place): void {
  if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
}

function add(draw: RandomSource, target: unknown, value: () => unknown): void {
  if (Array.isArray(target)) target.push(value());
  else if (isJsonContainer(target))
    Object.defineProperty(target, hostileText(draw).slice(0, 500), {
      value: value(),
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

const maxFloodedItems = 1_500_000;

/** A list or text many times as long as it was. */
function flood(draw: RandomSource, place: Place): void {
  const value = at(place);
  const times = Math.min(draw.of([50, 300, 2000]), Math.ceil(maxFloodedItems / (toJsonText(value).length + 1)));
  const holder = place.holder as Record<string | number, unknown>;
  if (Array.isArray(value) && value.length > 0) holder[place.key] = Array.from({ length: times }, () => value[0]);
  else if (typeof value === 'string') holder[place.key] = value.repeat(times);
}

/** Everything within a body, each with what holds it; the body itself comes first. */
function listPlaces(root: { body: unknown }): Place[] {
  const places: Place[] = [{ holder: root, key: 'body' }];
  for (const place of places) {
    const value = at(place);
    if (!isJsonContainer(value) || places.length > 2000) continue;
    for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) places.push({ holder: value, key });
  }
  return places;
}
