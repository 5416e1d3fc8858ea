import { collectionOf, type Collection } from './collections.ts';
import { unpackCharacterMaps } from './unpack-character-maps.ts';

/** Each collection is loaded with the first document that needs it. */
const packed: Record<Collection, () => Promise<{ default: string }>> = {
  cns1: () => import('./packed/cns1.ts'),
  gb1: () => import('./packed/gb1.ts'),
  japan1: () => import('./packed/japan1.ts'),
  korea1: () => import('./packed/korea1.ts'),
};

/**
 * Gives the PDF library Adobe's character maps: which character a code of a Chinese, Japanese or Korean font stands for, where the file does
 * not say so itself. One object serves one document.
 */
export class CharacterMaps {
  private readonly collections = new Map<Collection, Promise<Map<string, Uint8Array>>>();

  /** `filename`: the name of a map and `.bcmap`. Rejects for other data and unknown maps. */
  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    const name = filename.replace(/\.bcmap$/, '');
    const map = kind === 'cMapUrl' ? (await this.load(collectionOf(name))).get(name) : undefined;
    if (!map) throw new Error(`There is no character map ${filename}`);
    return map.slice();
  }

  private load(collection: Collection): Promise<Map<string, Uint8Array>> {
    let maps = this.collections.get(collection);
    if (!maps) {
      maps = packed[collection]().then(({ default: text }) => unpackCharacterMaps(text));
      this.collections.set(collection, maps);
    }
    return maps;
  }
}
