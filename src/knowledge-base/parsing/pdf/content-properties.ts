import { decodeTextString, readTextString } from './content-operations.ts';
import { parseReferences } from './drawing-names.ts';
import type { Properties } from './mark-content.ts';
import type { PdfObject, PdfObjects } from './pdf-objects.ts';

/** The maximum of objects that are searched for the names of a page. */
const maxFollowedObjects = 50;
const maxTexts = 50_000;

/** What a name stands for: an object, or a dictionary. */
type Named = number | string;

/** The properties of marked content (ISO 32000-1, 14.6.2) by the names of pages and forms, and the texts that they have for what is drawn. */
export class ContentProperties {
  readonly texts: string[] = [];
  private readonly objects: PdfObjects;
  private readonly names = new Map<PdfObject, Map<string, Named>>();

  constructor(objects: PdfObjects) {
    this.objects = objects;
  }

  /** What the streams of a page or form may name. */
  of(owner: PdfObject): Properties {
    let tables: Map<string, Named>[] | undefined;
    const find = (name: string): Named | undefined => {
      tables ??= [...this.findTables(owner)];
      return tables.find((table) => table.has(name))?.get(name);
    };
    return {
      findLayer: (name) => {
        const named = find(name);
        return typeof named === 'number' ? named : undefined;
      },
      findText: (properties) => {
        const named = properties.startsWith('<<') ? properties : find(properties);
        return named === undefined ? undefined : this.keepText(typeof named === 'string' ? named : this.textOf(named));
      },
    };
  }

  /** The place of the text that a dictionary has for what is drawn. */
  keepText(dictionary: string): number | undefined {
    const text = readActualText(dictionary, this.objects);
    if (text === undefined || this.texts.length >= maxTexts) return undefined;
    return this.texts.push(text) - 1;
  }

  private textOf(number: number): string {
    return this.objects.get(number).at(-1)?.text ?? '';
  }

  /** The names of the resources, of their own objects, and of the nodes above a page. */
  private *findTables(owner: PdfObject): Generator<Map<string, Named>> {
    const queue: PdfObject[] = [owner];
    for (const object of queue) {
      yield this.parse(object);
      for (const [, number] of object.text.matchAll(/\/(?:Resources|Properties|Parent)[\s\0]+(\d+)[\s\0]+\d+[\s\0]+R/g))
        queue.push(...this.objects.get(Number(number)).filter((other) => queue.length < maxFollowedObjects && !queue.includes(other)));
    }
  }

  private parse(object: PdfObject): Map<string, Named> {
    let names = this.names.get(object);
    if (names) return names;
    names = new Map();
    for (const [, name = '', number, dictionary] of object.text.matchAll(
      /\/([^\s\0()[\]<>{}/%]+)[\s\0]*(?:(\d{1,10})[\s\0]+\d+[\s\0]+R|(?=(<<(?:[^<>]|<[^<>]*>){0,2000}>>)))/g,
    ))
      names.set(name, number === undefined ? (dictionary ?? '') : Number(number));
    this.names.set(object, names);
    return names;
  }
}

/** The text that stands for what is drawn; undefined: none. */
function readActualText(dictionary: string, objects: PdfObjects): string | undefined {
  const key = /\/ActualText[\s\0]*(?=[(<\d])/.exec(dictionary);
  if (!key) return undefined;
  const at = key.index + key[0].length;
  const written = readTextString(dictionary, at);
  if (written !== undefined) return decodeTextString(written);
  const [number] = parseReferences(dictionary.slice(at, at + 20));
  const referred = number === undefined ? undefined : readTextString(objects.get(number).at(-1)?.text.trimStart() ?? '', 0);
  return referred === undefined ? undefined : decodeTextString(referred);
}
