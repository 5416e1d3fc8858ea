import { z } from 'zod';
import { Id } from '../parse-fields.ts';
import { bodyParameters, findPlaceholders, type Template } from '../templates.ts';

const ListedTemplate = z.looseObject({
  id: Id,
  elementName: z.string().min(1),
  status: z.string(),
  category: z.string().nullish(),
  language: z.union([z.string(), z.looseObject({ value: z.string() }).transform(({ value }) => value)]),
  body: z.string().nullish(),
  bodyOriginal: z.string().nullish(),
  customParams: z.array(z.looseObject({ paramName: z.string() })).nullish(),
  header: z.unknown().optional(),
  footer: z.unknown().optional(),
  buttons: z.unknown().optional(),
});

/** A template of the list; undefined for anything else. */
export function parseWatiTemplate(listed: unknown): Template | undefined {
  const parsed = ListedTemplate.safeParse(listed);
  if (!parsed.success) return undefined;
  const { id, elementName: name, status, category, language, customParams, bodyOriginal, header, footer, buttons } = parsed.data;
  const body = parsed.data.body ?? bodyOriginal ?? '';
  const names = customParams?.length ? customParams.map(({ paramName }) => paramName) : findPlaceholders(body);
  const parameters = bodyParameters([...new Set(names)]);
  const parts: [string, unknown][] = [
    ['HEADER', header],
    ['BODY', body],
    ['FOOTER', footer],
    ['BUTTONS', buttons],
  ];
  const components = parts.flatMap(([type, part]) => (isPresent(part) ? [{ type, [contentKey(type)]: part }] : []));
  const isNamed = names.some((one) => !/^\d+$/.test(one));
  const cards = [parsed.data['carouselCards'], parsed.data['carousel']].some(isPresent);
  return {
    ...(cards && { unfillable: ['carousel'] }),
    id,
    name,
    language,
    category: category ?? '',
    status,
    body,
    placeholders: parameters.length,
    parameters,
    isNamed,
    components,
  };
}

const isPresent = (part: unknown) => part != null && part !== '' && !(Array.isArray(part) && part.length === 0);

/** `text`, but `header` and `buttons` for what has a form of its own. */
const contentKey = (type: string) => (type === 'HEADER' || type === 'BUTTONS' ? type.toLowerCase() : 'text');
