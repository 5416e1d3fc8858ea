let names: Promise<ReadonlySet<string>> | undefined;

/** The names of glyphs that say which character they draw. */
export function loadGlyphNames(): Promise<ReadonlySet<string>> {
  names ??= import('./packed.ts').then(({ default: packed }) => unpack(packed));
  return names;
}

async function unpack(packed: string): Promise<ReadonlySet<string>> {
  const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
  const inflated = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')));
  return new Set((await inflated.text()).split('\n'));
}
