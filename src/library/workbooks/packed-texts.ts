const textsPerPack = 512;

/** Stores many short texts as few long strings. Separate strings would need twice the memory and keep their source strings alive. */
export class PackedTexts {
  private readonly packs: string[] = [];
  private readonly ends: number[] = [];
  private open: string[] = [];
  private openLength = 0;
  private readonly withOwnFonts = new Set<number>();

  get count(): number {
    return this.ends.length;
  }

  /** `hasOwnFonts`: the text names fonts, beside that of its cell. */
  add(text: string, hasOwnFonts = false): void {
    if (hasOwnFonts) this.withOwnFonts.add(this.count);
    this.open.push(text);
    this.openLength += text.length;
    this.ends.push(this.openLength);
    if (this.open.length < textsPerPack) return;
    this.packs.push(this.open.join(''));
    this.open = [];
    this.openLength = 0;
  }

  hasOwnFonts(index: number): boolean {
    return this.withOwnFonts.has(index);
  }

  /** The text number `index`, from 0. */
  at(index: number): string | undefined {
    const end = this.ends[index];
    if (end === undefined) return undefined;
    const pack = Math.floor(index / textsPerPack);
    if (pack === this.packs.length) return this.open[index % textsPerPack];
    return this.packs[pack]?.slice(index % textsPerPack === 0 ? 0 : this.ends[index - 1], end);
  }
}
