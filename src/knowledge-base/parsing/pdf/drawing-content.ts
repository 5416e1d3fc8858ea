import { parseDrawnPaths, type PathCommand } from './drawn-paths.ts';

/** The cost of a stream of drawing commands. */
export interface DrawingContent {
  bytes: number;
  /** The nesting of saved states (`q`) that are not restored (`Q`): the maximum, and the number at the end. */
  maxDepth: number;
  unrestored: number;
  /** How often the stream draws the object of each name. */
  draws: Map<string, number>;
  showsText: boolean;
  /** Undefined: too many, or no longer kept. */
  paths: PathCommand[] | undefined;
  isKept: boolean;
}

/**
 * `text`: unpacked, as Latin 1. Counts every operator, also inside comments and strings, because the PDF reader might split them
 * differently.
 */
export function parseDrawingContent(text: string): DrawingContent {
  const content: DrawingContent = {
    bytes: text.length,
    maxDepth: 0,
    unrestored: 0,
    draws: new Map(),
    showsText: /T[jJ]|[\s\0)>\]]['"]/.test(text),
    paths: parseDrawnPaths(text),
    isKept: false,
  };
  for (const { 1: word, 2: name } of text.matchAll(
    /(?<![^\s\0)\]>}])([qQ])(?![^\s\0(/[<{%])|\/([^\s\0()[\]<>{}/%]*)[\s\0]*Do(?![^\s\0(/[<{%])/g,
  )) {
    if (word === 'q') content.unrestored += 1;
    else if (word === 'Q') content.unrestored = Math.max(0, content.unrestored - 1);
    else if (name !== undefined) content.draws.set(name, (content.draws.get(name) ?? 0) + 1);
    content.maxDepth = Math.max(content.maxDepth, content.unrestored);
  }
  return content;
}
