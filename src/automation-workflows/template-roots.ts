import { analyzeSync } from 'liquidjs';
import { parseTemplate } from './template-engine.ts';
import { isTemplate } from './templates.ts';

/** The top-level names that a text reads when it is rendered, such as `contact`. The text must parse. */
export const rootsReadBy = (text: string): string[] => (isTemplate(text) ? Object.keys(analyzeSync(parseTemplate(text)).globals) : []);
