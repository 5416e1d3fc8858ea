import type { Archive } from '../../../library/office-files/archive.ts';
import { readSlide } from './read-slide.ts';
import { readRelationships } from '../../../library/office-files/relationships.ts';
import type { BlockWriter } from '../block-writer.ts';
import type { Relationship } from '../../../library/office-files/relationships.ts';

const kinds = new Set(['slideLayout', 'slideMaster']);

/** The texts that stand on the layouts and masters of slides, and so on each of their slides. Those of placeholders only say what to type. */
export class MasterTexts {
  private readonly archive: Archive;
  private readonly writer: BlockWriter;
  private readonly read = new Set<string>();

  constructor(archive: Archive, writer: BlockWriter) {
    this.archive = archive;
    this.writer = writer;
  }

  /** The texts behind a slide that no slide before it has. `relationships`: those of the slide. */
  async findNew(relationships: Relationship[]): Promise<string[]> {
    const texts: string[] = [];
    for (const { type, target } of relationships) {
      if (!kinds.has(type) || this.read.has(target)) continue;
      this.read.add(target);
      const { parts, describedImages } = await readSlide(this.archive.pieces(target), this.writer.warnings);
      const others = await readRelationships(this.archive, target);
      for (const part of parts) if ('paragraph' in part && part.paragraph.kind === '') texts.push(part.paragraph.text.trim());
      for (const other of others) if (describedImages.has(other.id)) this.writer.describedImages.add(other.target);
      // A layout names its master, and a master its layouts.
      if (type === 'slideLayout') texts.push(...(await this.findNew(others)));
    }
    return texts.filter((text) => text !== '');
  }
}
