import { localFailure, type MessagingFailure } from './failures.ts';

export type MediaKind = 'image' | 'video' | 'document';

export interface TemplateParameter {
  /**
   * The name under which the value is given: the provider's number or name of a placeholder in the body, `header_1` and `button_0` for
   * placeholders of a header and a button, `header_image` and so on for the address of a medium.
   */
  name: string;
  place: 'header' | 'body' | 'button';
  kind: 'text' | MediaKind;
  /** The index of a button, from 0. */
  index?: number;
  /** The button copies a code instead of opening an address. */
  isCode?: true;
}

/** A message template at a provider. */
export interface Template {
  /** The provider's id. */
  id: string;
  name: string;
  /** Another name of the template at the provider. */
  otherName?: string;
  /** In the provider's spelling: `en` and `en_US` are two templates. */
  language: string;
  category: string;
  status: string;
  body: string;
  placeholders: number;
  /** One entry for each placeholder, in order. */
  parameters: TemplateParameter[];
  /** Parts that need values of unsupported kinds. A template with such parts is not sent. */
  unfillable?: string[];
  /** Whether the placeholders have names instead of numbers. */
  isNamed: boolean;
  /** In the provider's own format. */
  components: unknown[];
}

const placeholderPattern = /\{\{\s*([^{}]+?)\s*\}\}/g;
const digitsPattern = /^\d+$/;

/** The placeholders of a text, each once: ordered by number (10 after 9), or by appearance when they have names. */
export function findPlaceholders(text: string): string[] {
  const names = [...new Set([...text.matchAll(placeholderPattern)].map(([, name]) => name!))];
  return sortPlaceholders(names);
}

export const sortPlaceholders = (names: string[]): string[] =>
  names.every((name) => digitsPattern.test(name)) ? names.toSorted((one, other) => Number(one) - Number(other)) : names;

export const isApproved = (status: string): boolean => status.toUpperCase() === 'APPROVED';

export const bodyParameters = (names: string[]): TemplateParameter[] => names.map((name) => ({ name, place: 'body', kind: 'text' }));

const maxListedNames = 10;
const joinNames = (names: string[]) => {
  const unique = [...new Set(names)];
  return unique.length > maxListedNames
    ? `${unique.slice(0, maxListedNames).join(', ')} and ${unique.length - maxListedNames} more`
    : unique.join(', ');
};

export interface TemplateSelector {
  /** The name, or the provider's id. Empty: `defaultId`. */
  name: string;
  /** In the provider's spelling. Empty: the only language that there is. */
  language: string;
  defaultId?: string;
}

/** The selected template, or a failure that names the existing ones. */
export function chooseTemplate(
  templates: Template[],
  { name, language, defaultId }: TemplateSelector,
): { template: Template } | MessagingFailure {
  const sought = name || (defaultId ?? '');
  if (!sought) return localFailure('template_missing', 'No template is named; give template_name');
  const byId = templates.find(({ id }) => id === sought);
  const variants = byId ? [byId] : templates.filter((template) => template.name === sought || template.otherName === sought);
  if (variants.length === 0) {
    const there = joinNames(templates.map((template) => template.name));
    return localFailure('template_missing', `There is no approved template "${sought}"${there && `; there are ${there}`}`);
  }
  const fitting = language ? variants.filter((template) => template.language === language) : variants;
  if (fitting.length === 1) return { template: fitting[0]! };
  const languages = joinNames(variants.map((template) => template.language));
  if (fitting.length > 1 && language)
    return localFailure('template_missing', `The template "${sought}" is there more than once in "${language}"; name it by its id`);
  return localFailure(
    'template_missing',
    language
      ? `The template "${sought}" is not approved in "${language}"; it is in ${languages}`
      : `The template "${sought}" is approved in several languages; give language: ${languages}`,
  );
}
