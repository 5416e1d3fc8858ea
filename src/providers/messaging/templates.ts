import { localFailure, type MessagingFailure } from './failures.ts';

export type MediaKind = 'image' | 'video' | 'document';

export interface TemplateParameter {
  /**
   * Under which its value is given: the number or the name that the provider has for it in the body, `header_1` and `button_0` in a header
   * and a button that count for themselves, `header_image` and its like for the address of a medium.
   */
  name: string;
  place: 'header' | 'body' | 'button';
  kind: 'text' | MediaKind;
  /** Of a button, from 0. */
  index?: number;
  /** A button that copies a code, not one that opens an address. */
  isCode?: true;
}

/** A message template as a provider keeps it. */
export interface Template {
  /** The provider's. */
  id: string;
  name: string;
  /** Another name that it goes by at the provider. */
  otherName?: string;
  /** As the provider writes it: `en` and `en_US` are two templates. */
  language: string;
  category: string;
  status: string;
  body: string;
  placeholders: number;
  /** One a placeholder, in the order in which they count. */
  parameters: TemplateParameter[];
  /** Parts that need values of kinds that a message cannot give; one with any is not sent. */
  unfillable?: string[];
  /** Whether the provider tells its placeholders apart by names. */
  isNamed: boolean;
  /** As the provider has them. */
  components: unknown[];
}

const placeholderPattern = /\{\{\s*([^{}]+?)\s*\}\}/g;
const digitsPattern = /^\d+$/;

/** The placeholders of a text, each once: in the order of their numbers (10 after 9), or of their appearance where they have names. */
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
  /** Its name, or its id at the provider. Empty: the one of `defaultId`. */
  name: string;
  /** Exactly as the provider writes it. Empty: the only one there is. */
  language: string;
  defaultId?: string;
}

/** The approved template that is meant, or a failure that names what there is. */
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
