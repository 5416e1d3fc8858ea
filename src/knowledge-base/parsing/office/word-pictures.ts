import { toPictureText } from '../picture-text.ts';

/** Drawings of several shapes, each of which may be described. */
const groups = new Set(['wgp', 'grpSp', 'wpc']);

/** `onDescribedImage`: is told the relationship of each picture that a text describes. */
interface PictureFacts {
  count(what: 'hidden_left_out'): void;
  onDescribedImage(relationship: string): void;
}

const images = new Set(['blip', 'svgBlip', 'imagedata']);

/**
 * What the drawings of a document of Word say to those who do not see them: descriptions, and words that are drawn (WordArt), each once a drawing. Takes elements by
 * their names without prefix.
 */
export class WordPictures {
  private readonly facts: PictureFacts;
  private openGroups = 0;
  private readonly said = new Set<string>();

  constructor(facts: PictureFacts) {
    this.facts = facts;
  }

  /** Another drawing begins. */
  begin(): void {
    this.said.clear();
  }

  /** The text of an element of a drawing; empty without one. */
  open(name: string, attributes: Record<string, string>): string {
    if (groups.has(name)) this.openGroups += 1;
    if (images.has(name) && this.said.size > 0) this.facts.onDescribedImage(attributes['r:embed'] ?? attributes['r:id'] ?? '');
    const text = this.findText(name, attributes);
    if (text === '' || this.said.has(text)) return '';
    this.said.add(text);
    if (attributes['hidden'] !== '1' && attributes['hidden'] !== 'true') return text;
    this.facts.count('hidden_left_out');
    return '';
  }

  close(name: string): void {
    if (groups.has(name)) this.openGroups -= 1;
  }

  private findText(name: string, attributes: Record<string, string>): string {
    // Outside of a group, the picture's own properties repeat those of the drawing, or name a file.
    if (name === 'docPr' || (name === 'cNvPr' && this.openGroups > 0))
      return toPictureText({ title: attributes['title'], description: attributes['descr'] });
    if (name === 'textpath') return (attributes['string'] ?? '').trim();
    return attributes['alt'] === undefined ? '' : toPictureText({ title: attributes['title'], description: attributes['alt'] });
  }
}
