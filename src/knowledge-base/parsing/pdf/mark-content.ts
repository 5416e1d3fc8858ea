import { readOperations, type Operand, type Operation } from './content-operations.ts';
import { mayHaveApartLetters, PlacedLetters, splitParts, type Edit } from './placed-letters.ts';
import { writeMark } from './text-marks.ts';

/** In font sizes: up to this space between letters, the library reads words as they are. */
const minSpacing = 0.08;
/** A stream with more marks stays as it is. */
const maxMarks = 100_000;

/** What a stream may name. */
export interface Properties {
  /** The object number of a layer. */
  findLayer(name: string): number | undefined;
  /** The number of the text that the properties of a name, or of a dictionary as it is written, have for what is drawn. */
  findText(properties: string): number | undefined;
}

/** Whether the stream may have something to mark. */
export function mayNeedMarks(content: string): boolean {
  if (mayHaveApartLetters(content)) return true;
  if (/\/ActualText\b|\/[^\s\0()[\]<>{}/%]{1,100}[\s\0]{0,4}BDC\b|[)>][\s\0]{0,4}"/.test(content)) return true;
  for (const [, spacing] of content.matchAll(/([\d.]{1,12})[\s\0]{1,4}Tc\b/g)) if (Number(spacing) > 0) return true;
  return false;
}

/**
 * The stream with marks (`text-marks.ts`) around text that another text stands for, text of layers, and text whose letters are drawn apart. That is drawn with its
 * letters close to each other, so that the library finds its words. Undefined: there is nothing to mark. `content`: unpacked, as Latin 1.
 */
export function markContent(content: string, properties: Properties): string | undefined {
  const edits: Edit[] = [];
  let state: TextState = { spacing: 0, size: 0 };
  const saved: TextState[] = [];
  const letters = new PlacedLetters(content);
  for (const operation of readOperations(content)) {
    if (operation.name === 'q') saved.push(state);
    else if (operation.name === 'Q') state = saved.pop() ?? state;
    else {
      state = afterOperation(state, operation);
      const text = editOperation(content, operation, state, properties);
      if (text !== undefined) edits.push({ start: operation.start, end: operation.end, text });
      edits.push(...letters.follow(operation, state.size, text === undefined));
    }
    if (edits.length > maxMarks || saved.length > maxMarks) return undefined;
  }
  edits.push(...letters.end());
  return edits.length === 0
    ? undefined
    : applyEdits(
        content,
        edits.toSorted((one, other) => one.start - other.start),
      );
}

function editOperation(content: string, operation: Operation, state: TextState, properties: Properties): string | undefined {
  if (operation.name === 'BDC') return toMarkedBegin(content, operation, properties);
  return toCloseLetters(content, operation, state) ?? splitParts(operation);
}

interface TextState {
  /** The space behind each letter, and the font size, both as the stream writes them. */
  spacing: number;
  size: number;
}

function afterOperation(state: TextState, { name, operands }: Operation): TextState {
  const values = operands.map(({ text }) => Number(text));
  if (name === 'Tf') return { ...state, size: Math.abs(values[1] ?? 0) };
  if (name === 'Tc') return { ...state, spacing: values[0] ?? 0 };
  return name === '"' ? { ...state, spacing: values[1] ?? 0 } : state;
}

function toMarkedBegin(content: string, { operands, end }: Operation, properties: Properties): string | undefined {
  const [tag, list] = operands;
  if (!tag || !list) return undefined;
  if (tag.text === '/OC') {
    const number = properties.findLayer(list.text.slice(1));
    return number === undefined ? undefined : writeMark({ kind: 'layer', number });
  }
  const index = properties.findText(list.text.startsWith('/') ? list.text.slice(1) : content.slice(list.start, end - 'BDC'.length));
  return index === undefined ? undefined : writeMark({ kind: 'text', index });
}

const showing = new Set(['Tj', 'TJ', "'", '"']);

function toCloseLetters(content: string, operation: Operation, { spacing, size }: TextState): string | undefined {
  const { name, operands, start, end } = operation;
  const sizes = spacing / (size || 1);
  if (!showing.has(name) || sizes < minSpacing || (name === 'TJ' && isClosedUp(operands, sizes))) return undefined;
  const [words, , shown] = operands;
  const show = name === '"' ? `${words?.text ?? 0} Tw 0 Tc ${shown?.text ?? '()'} '` : `0 Tc ${content.slice(start, end)}`;
  return `${writeMark({ kind: 'spacing', sizes })} ${show} ${spacing} Tc EMC`;
}

/** Whether the numbers between the strings take the space away again, as some programs write it. */
function isClosedUp(operands: Operand[], sizes: number): boolean {
  const strings = operands.filter(({ text }) => /^[(<]/.test(text)).length;
  const closed = operands.filter(({ text }) => Number(text) > sizes * 500).length;
  return closed >= Math.max(1, (strings - 1) / 2);
}

function applyEdits(content: string, edits: Edit[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end, text } of edits) {
    parts.push(content.slice(at, start), text);
    at = end;
  }
  return `${parts.join(' ')} ${content.slice(at)}`;
}
