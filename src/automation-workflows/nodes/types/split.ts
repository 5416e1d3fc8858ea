import { z } from 'zod';
import { configObject } from '../../../library/json/config-object.ts';
import { isRecord } from '../../../library/json/json.ts';
import { defineNode, next, type Step } from '../contract.ts';
import { checkKeys, handleKeySchema, collectKeys } from '../shared/handle-keys.ts';

export const splitNode = defineNode({
  type: 'split',
  label: 'Split',
  description:
    'Divides runs among variants by weight. The choice is a hash of the entry key (or, without one, of the run) and of the node, so the same contact takes the same variant again.',
  dataSchema: configObject({
    variants: z
      .array(configObject({ key: handleKeySchema, weight: z.number().positive().max(1_000_000) }))
      .min(1)
      .max(50)
      .superRefine((variants, context) => checkKeys(variants, [], context)),
  }),
  handles: (data) => collectKeys(data['variants']),
  comesOutTheSame: true,
  example: {
    variants: [
      { key: 'a', weight: 50 },
      { key: 'b', weight: 50 },
    ],
  },
  run: async (step) => {
    const variant = chooseVariant(step.data.variants, `${splitKey(step)}\u0000${step.node.id}`);
    return { ...next({ variant }, variant), variant };
  },
});

/** The variant for `key`: the hash of `key` is a point on the line of all weights. `variants` is not empty. */
export function chooseVariant(variants: readonly { key: string; weight: number }[], key: string): string {
  const total = variants.reduce((sum, { weight }) => sum + weight, 0);
  let left = hashFraction(key) * total;
  const chosen = variants.find(({ weight }) => (left -= weight) < 0) ?? variants.at(-1);
  return chosen!.key;
}

function splitKey({ scope, key }: Step): string {
  const entryKey = isRecord(scope['run']) ? scope['run']['entry_key'] : null;
  if ((typeof entryKey === 'string' && entryKey !== '') || typeof entryKey === 'number') return String(entryKey);
  return `run:${key.slice(0, key.indexOf(':'))}`;
}

/** 0 <= fraction < 1: FNV-1a over the text, its bits mixed by the finalizer of MurmurHash3 because FNV alone spreads short keys badly. */
function hashFraction(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
