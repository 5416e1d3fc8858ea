import type { PDFDocumentProxy } from 'unpdf/pdfjs';
import { parseReferences } from './drawing-names.ts';
import type { PdfObjects } from './pdf-objects.ts';

/** Layers (ISO 32000-1, 8.11) that a reader of the document does not see on its screen. */
export class HiddenLayers {
  private readonly isShown: (layer: unknown) => boolean;
  private readonly objects: PdfObjects;
  private readonly known = new Map<number, boolean>();

  private constructor(objects: PdfObjects, isShown: (layer: unknown) => boolean) {
    this.objects = objects;
    this.isShown = isShown;
  }

  static async find(pdf: PDFDocumentProxy, objects: PdfObjects): Promise<HiddenLayers> {
    const config = await pdf.getOptionalContentConfig().catch(() => undefined);
    return new HiddenLayers(objects, (layer) => config === undefined || config.isVisible(layer) !== false);
  }

  /** `number`: the object of a layer, or of a set of layers with a rule. */
  isHidden(number: number): boolean {
    let isHidden = this.known.get(number);
    if (isHidden === undefined) {
      isHidden = !this.isShown(this.toLayer(number));
      this.known.set(number, isHidden);
    }
    return isHidden;
  }

  private toLayer(number: number): unknown {
    const text = this.objects.get(number).at(-1)?.text ?? '';
    if (!/\/OCMD\b/.test(text)) return { type: 'OCG', id: `${number}R` };
    const written = /\/VE[\s\0]*(\[[\s\S]*)/.exec(text)?.[1];
    const list = /\/OCGs[\s\0]*(\[[^\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/.exec(text)?.[1] ?? '';
    return {
      type: 'OCMD',
      ids: Array.from(this.resolve(list), (layer) => `${layer}R`),
      policy: /\/P[\s\0]*\/(\w+)/.exec(text)?.[1] ?? null,
      expression: written === undefined ? null : parseExpression(written),
    };
  }

  /** The layers of a list, which may be an object of its own. */
  private *resolve(list: string): Generator<number> {
    for (const number of parseReferences(list)) {
      const text = this.objects.get(number).at(-1)?.text ?? '';
      if (/^[\s\0]*\[/.test(text)) yield* parseReferences(text);
      else yield number;
    }
  }
}

type Expression = (string | Expression)[];
const maxDepth = 10;

/** `[/And 5 0 R [/Not 6 0 R]]`: a rule of layers, with the ids that the library uses. Null: it cannot be read. */
function parseExpression(written: string): Expression | null {
  const open: Expression[] = [];
  for (const [token, operator, number] of written.matchAll(/[[\]]|\/(And|Or|Not)\b|(\d+)[\s\0]+\d+[\s\0]+R/g)) {
    if (token === '[') {
      const list: Expression = [];
      open.at(-1)?.push(list);
      open.push(list);
      if (open.length > maxDepth) return null;
    } else if (token === ']') {
      const closed = open.pop();
      if (open.length === 0) return closed ?? null;
    } else open.at(-1)?.push(operator ?? `${number}R`);
  }
  return null;
}
