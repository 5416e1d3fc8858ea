import { z } from 'zod';
import { renderText, type Scope } from '../../../expressions/templates/render.ts';

/** Names of tags or lists, each perhaps a template. */
export const nameTemplates = z.array(z.string().min(1).max(1000)).max(100).default([]);

/** Rendered, without blanks and repeats. */
export const renderNames = (templates: readonly string[], scope: Scope): string[] => [
  ...new Set(templates.map((template) => renderText(template, scope).trim()).filter((name) => name !== '')),
];
