import type { Archive } from '../../../library/office-files/archive.ts';
import { writeListNumber } from '../list-numbers.ts';
import { readXml } from '../../../library/office-files/read-xml.ts';
import { isOn } from './word-styles.ts';
import type { WordStyles } from './word-styles.ts';

/** `text`: `%1.%2` stands for the numbers of the first and the second level. `restart`: after which level it starts again; 0: never. */
interface Level {
  start: number;
  format: string;
  text: string;
  restart: number | undefined;
  isDecimal: boolean;
  isJoined: boolean;
  style: string | undefined;
}

interface Definition {
  levels: Map<number, Level>;
  link: string | undefined;
}

interface List {
  definition: string;
  starts: Map<number, number>;
  levels: Map<number, Level>;
}

const maxLevels = 9;
/** A label stands before every item, and would be repeated with it. */
const maxLabelLength = 100;
const newLevel = (): Level => ({
  start: 0,
  format: 'decimal',
  text: '',
  restart: undefined,
  isDecimal: false,
  isJoined: false,
  style: undefined,
});

/** `label`: as Word shows it before the text, with the blank after it; empty for a bullet. */
interface Numbered {
  list: string;
  level: number;
  label: string;
}

/** Counts the numbered paragraphs of a Word document in their order. */
export class WordNumbering {
  private readonly definitions: Map<string, Definition>;
  private readonly lists: Map<string, List>;
  private readonly styles: WordStyles;
  /** By definition: the last number of each level. */
  private readonly counts = new Map<string, (number | undefined)[]>();
  private readonly started = new Set<string>();

  constructor(definitions: Map<string, Definition>, lists: Map<string, List>, styles: WordStyles) {
    this.definitions = definitions;
    this.lists = lists;
    this.styles = styles;
  }

  /** `own`: what the paragraph says itself. Undefined: it is in no list. */
  next(style: string | undefined, own: { list: string | undefined; level: number | undefined }): Numbered | undefined {
    const ofStyle = this.styles.listOf(style);
    const id = own.list ?? ofStyle?.list;
    const list = id === undefined || id === '0' ? undefined : this.lists.get(id);
    if (id === undefined || !list) return undefined;
    const definition = this.definitionOf(list);
    if (!definition) return undefined;
    const levelOf = (level: number) => list.levels.get(level) ?? definition.levels.get(level);
    const styled = own.list === undefined ? [...definition.levels].find(([, level]) => level.style === style)?.[0] : undefined;
    const level = Math.min(own.level ?? styled ?? ofStyle?.level ?? 0, maxLevels - 1);
    const at = levelOf(level);
    if (!at) return undefined;
    const counts = this.count(id, list, level, levelOf);
    const label = at.format === 'bullet' ? '' : writeLabel(at, counts, levelOf);
    return { list: id, level, label: label.trim() === '' || at.isJoined ? label : `${label} ` };
  }

  private definitionOf(list: List): Definition | undefined {
    const definition = this.definitions.get(list.definition);
    if (definition?.link === undefined) return definition;
    const linked = this.lists.get(this.styles.listOf(definition.link)?.list ?? '');
    return this.definitions.get(linked?.definition ?? '') ?? definition;
  }

  private count(id: string, list: List, level: number, levelOf: (level: number) => Level | undefined): (number | undefined)[] {
    const counts = this.counts.get(list.definition) ?? Array.from<number | undefined>({ length: maxLevels });
    this.counts.set(list.definition, counts);
    const startOf = (one: number) => list.starts.get(one) ?? levelOf(one)?.start ?? 1;
    // A list of its own start begins anew where it first appears.
    const isNew = !this.started.has(id);
    this.started.add(id);
    if (isNew) for (const one of list.starts.keys()) counts[one] = undefined;
    const before = counts[level];
    counts[level] = before === undefined ? startOf(level) : before + 1;
    for (let higher = 0; higher < level; higher += 1) counts[higher] ??= startOf(higher);
    for (let lower = level + 1; lower < maxLevels; lower += 1) {
      const restart = levelOf(lower)?.restart;
      if (restart === undefined || (restart > 0 && level < restart)) counts[lower] = undefined;
    }
    return counts;
  }
}

function writeLabel(level: Level, counts: (number | undefined)[], levelOf: (level: number) => Level | undefined): string {
  return level.text.replace(/%([1-9])/g, (_, digit: string) => {
    const index = Number(digit) - 1;
    const format = levelOf(index)?.format ?? 'decimal';
    return writeListNumber(counts[index] ?? 0, level.isDecimal && format !== 'none' ? 'decimal' : format);
  });
}

/** Reads `numbering.xml` (ECMA-376, part 1, 17.9). */
export async function readWordNumbering(archive: Archive, part: string, styles: WordStyles): Promise<WordNumbering> {
  const definitions = new Map<string, Definition>();
  const lists = new Map<string, List>();
  let definition: Definition | undefined;
  let list: List | undefined;
  let level: Level | undefined;
  let overridden = 0;
  let fallbacks = 0;
  await readXml(archive.pieces(part), {
    open(name, attributes) {
      // The format before it is the one of the newer program.
      if (name === 'Fallback') fallbacks += 1;
      if (fallbacks > 0) return;
      const value = attributes['w:val'] ?? '';
      const index = Number(attributes['w:ilvl'] ?? 0) || 0;
      if (name === 'abstractNum') {
        definition = { levels: new Map(), link: undefined };
        definitions.set(attributes['w:abstractNumId'] ?? '', definition);
      } else if (name === 'num') {
        list = { definition: '', starts: new Map(), levels: new Map() };
        lists.set(attributes['w:numId'] ?? '', list);
      } else if (name === 'abstractNumId' && list) list.definition = value;
      else if (name === 'numStyleLink' && definition) definition.link = value;
      else if (name === 'lvlOverride') overridden = index;
      else if (name === 'startOverride') list?.starts.set(overridden, Number(value) || 0);
      else if (name === 'lvl') {
        level = newLevel();
        (list ?? definition)?.levels.set(index, level);
      } else if (level) readLevel(level, name, attributes);
    },
    close(name) {
      if (name === 'Fallback') fallbacks -= 1;
      else if (name === 'abstractNum') definition = undefined;
      else if (name === 'num') list = undefined;
      else if (name === 'lvl') level = undefined;
    },
  });
  return new WordNumbering(definitions, lists, styles);
}

function readLevel(level: Level, name: string, attributes: Record<string, string>): void {
  const value = attributes['w:val'] ?? '';
  if (name === 'start') level.start = Number(value) || 0;
  else if (name === 'numFmt') level.format = value === 'custom' ? `custom:${attributes['w:format'] ?? ''}` : value;
  else if (name === 'lvlText') level.text = value.slice(0, maxLabelLength);
  else if (name === 'lvlRestart') level.restart = Number(value) || 0;
  else if (name === 'isLgl') level.isDecimal = isOn(attributes);
  else if (name === 'suff') level.isJoined = value === 'nothing';
  else if (name === 'pStyle') level.style = value;
  else if (name === 'vanish' && isOn(attributes)) level.text = '';
}
