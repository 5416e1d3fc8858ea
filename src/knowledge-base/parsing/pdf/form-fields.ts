import type { PDFPageProxy } from 'unpdf/pdfjs';
import { parseReferences } from './drawing-names.ts';
import type { HiddenLayers } from './hidden-layers.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { tooLarge } from '../../../library/text/unparsable-document.ts';

/** The maximum of annotations (fields, links, notes) on all pages that have fields or typed notes. */
const maxAnnotations = 50_000;
const checked = '\u2611';
const unchecked = '\u2610';

/** The parts of the library's annotations that are read. */
interface Annotation {
  id?: string;
  subtype?: string;
  rect?: number[];
  fieldType?: string;
  fieldName?: string;
  fieldValue?: unknown;
  alternativeText?: string;
  contentsObj?: { str?: string };
  checkBox?: boolean;
  radioButton?: boolean;
  exportValue?: unknown;
  buttonValue?: unknown;
  password?: boolean;
  hidden?: boolean;
  options?: { exportValue?: unknown; displayValue?: unknown }[];
}

/** Reads what people have filled in and typed onto the pages. It is no part of a page's text. */
export class FormFields {
  private readonly pages: Set<number>;
  private readonly layers: Map<string, number>;
  private annotations = 0;

  /** `pages`: the object numbers of the pages that have fields or typed notes. `layers`: the object numbers of layers by the library's ids. */
  private constructor(pages: Set<number>, layers = new Map<string, number>()) {
    this.pages = pages;
    this.layers = layers;
  }

  static find(objects: PdfObjects): FormFields {
    const fields = new Set<number>();
    const layers = new Map<string, number>();
    for (const [number, versions] of objects.entries())
      if (versions.some(({ text }) => /\/Subtype[\s\0]*\/(?:Widget|FreeText)\b/.test(text))) {
        fields.add(number);
        const layer = /\/OC[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/.exec(versions.at(-1)?.text ?? '')?.[1];
        if (layer !== undefined) layers.set(`${number}R`, Number(layer));
      }
    const pages = new Set<number>();
    if (fields.size > 0)
      for (const [number, versions] of objects.entries())
        if (versions.some(({ text }) => hasField(text, objects, fields))) pages.add(number);
    return new FormFields(pages, layers);
  }

  /** The filled fields of a page, each as "Label: value", and its typed notes, from above, and how many belong to layers that are not shown. Throws `UnparsableDocument` for too many. */
  async readPage(page: PDFPageProxy, layers: Pick<HiddenLayers, 'isHidden'>): Promise<{ fields: string[]; hidden: number }> {
    if (!this.pages.has(page.ref?.num ?? -1)) return { fields: [], hidden: 0 };
    const annotations = (await page.getAnnotations()) as Annotation[];
    this.annotations += annotations.length;
    if (this.annotations > maxAnnotations) throw tooLarge(`it has more than ${maxAnnotations} form fields, links and notes`);
    const visible = annotations.filter(({ hidden, password }) => hidden !== true && password !== true);
    const fields: string[] = [];
    let inHiddenLayers = 0;
    for (const annotation of visible.toSorted(byPlace)) {
      const text = toText(annotation);
      if (text === '') continue;
      const layer = this.layers.get(annotation.id ?? '');
      if (layer !== undefined && layers.isHidden(layer)) inHiddenLayers += 1;
      else fields.push(text);
    }
    return { fields, hidden: inHiddenLayers };
  }
}

function hasField(text: string, objects: PdfObjects, fields: Set<number>): boolean {
  for (const [, list = ''] of text.matchAll(/\/Annots[\s\0]*(\[[^[\]]*\]|\d+[\s\0]+\d+[\s\0]+R)/g))
    for (const number of parseReferences(list)) {
      if (fields.has(number)) return true;
      if (list.startsWith('[')) continue;
      for (const { text: other } of objects.get(number)) for (const one of parseReferences(other)) if (fields.has(one)) return true;
    }
  // Annotations may also stand in the page itself.
  return /\/Annots[\s\0]*\[[\s\0]*<</.test(text);
}

/** From above, then from the left. */
function byPlace({ rect: [left = 0, , , top = 0] = [] }: Annotation, { rect: [otherLeft = 0, , , otherTop = 0] = [] }: Annotation): number {
  return Math.abs(top - otherTop) > 4 ? otherTop - top : left - otherLeft;
}

function toText(annotation: Annotation): string {
  if (annotation.subtype === 'FreeText') return annotation.contentsObj?.str ?? '';
  if (annotation.subtype !== 'Widget') return '';
  const label = toLabel(annotation);
  if (annotation.checkBox === true) return `${isOn(annotation.fieldValue, annotation.exportValue) ? checked : unchecked} ${label}`;
  if (annotation.radioButton === true)
    return isOn(annotation.fieldValue, annotation.buttonValue) ? `${label}: ${String(annotation.buttonValue)}` : '';
  const value = toValue(annotation);
  if (value === '') return '';
  return label === '' ? value : `${label}: ${value}`;
}

const isOn = (value: unknown, own: unknown): boolean => typeof value === 'string' && value !== 'Off' && value === own;

/** The label that assistive programs read, or else the last part of the name: "form1[0].page[0].city[0]" is "city". */
function toLabel({ alternativeText = '', fieldName = '' }: Annotation): string {
  if (alternativeText.trim() !== '') return alternativeText.trim().replace(/:$/, '');
  const parts = fieldName.split('.').filter((part) => part !== '' && !part.startsWith('#'));
  return (parts.at(-1) ?? '').replace(/\[\d+\]$/, '');
}

/** Choices are shown by their names. */
function toValue({ fieldType, fieldValue, options = [] }: Annotation): string {
  if (fieldType !== 'Tx' && fieldType !== 'Ch') return '';
  const values = Array.isArray(fieldValue) ? (fieldValue as unknown[]) : [fieldValue];
  const names = new Map(options.map(({ exportValue, displayValue }) => [exportValue, displayValue]));
  return values
    .filter((value) => typeof value === 'string' && value.trim() !== '')
    .map((value) => String(names.get(value) ?? value))
    .join(', ');
}
