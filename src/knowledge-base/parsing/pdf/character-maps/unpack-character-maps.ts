/** How many bytes of each map stand together: the maps of a collection are alike, and are packed small when like stands near like. */
export const stripeBytes = 2048;

/**
 * Unpacks what `scripts/build/pack-character-maps.ts` has packed: Base64 of deflated bytes. They are a line of JSON, which has the name and
 * length of each map, and the maps in stripes: the first bytes of each, then the next of each.
 */
export async function unpackCharacterMaps(packed: string): Promise<Map<string, Uint8Array>> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const inflated = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')));
  const unpacked = new Uint8Array(await inflated.arrayBuffer());
  const lineEnd = unpacked.indexOf(10);
  const lengths = JSON.parse(new TextDecoder().decode(unpacked.subarray(0, lineEnd))) as Record<string, number>;
  const maps = new Map(Object.entries(lengths).map(([name, length]) => [name, new Uint8Array(length)]));
  let place = lineEnd + 1;
  for (let start = 0; place < unpacked.length; start += stripeBytes) {
    for (const map of maps.values()) {
      const length = Math.min(stripeBytes, map.length - start);
      if (length <= 0) continue;
      map.set(unpacked.subarray(place, place + length), start);
      place += length;
    }
  }
  return maps;
}
