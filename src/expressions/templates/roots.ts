import { analyzeSync } from 'liquidjs';
import { parseTemplate } from './engine.ts';
import { isTemplate } from './render.ts';

/** The top-level names that a text reads when it is rendered, such as `contact`. The text must parse. */
export const findTemplateRoots = (text: string): string[] =>
  isTemplate(text) ? Object.keys(analyzeSync(parseTemplate(text)).globals) : [];
