import { namesOf, placeholdersOf, type SimulatedTemplate } from '../messaging/catalogue.ts';

/** A page of `GET getMessageTemplates`, or what is wrong with the question. Pages count from 1. */
export function listTemplates(catalogue: SimulatedTemplate[], url: URL): object | { malformed: string } {
  const [pageSize, pageNumber] = ['pageSize', 'pageNumber'].map((name) =>
    Number(url.searchParams.get(name) ?? (name === 'pageSize' ? 10 : 1)),
  );
  if (![pageSize, pageNumber].every((number) => Number.isInteger(number) && number! >= 1))
    return { malformed: 'pageSize and pageNumber must be numbers from 1' };
  const size = Math.min(pageSize!, 200);
  const start = (pageNumber! - 1) * size;
  const link = `${url.pathname}?pageSize=${size}&pageNumber=`;
  return {
    result: 'success',
    messageTemplates: catalogue.slice(start, start + size).map(shown),
    link: {
      prevPage: pageNumber! > 1 ? link + (pageNumber! - 1) : null,
      nextPage: start + size < catalogue.length ? link + (pageNumber! + 1) : null,
      pageNumber: pageNumber!,
      pageSize: size,
      total: catalogue.length,
    },
  };
}

/** The body has names where others have numbers. */
function shown(template: SimulatedTemplate): object {
  const [names, numbers] = [namesOf(template), placeholdersOf(template)];
  const body = template.body.replace(/\{\{(\d+)\}\}/g, (_whole, number: string) => `{{${names[numbers.indexOf(number)]}}}`);
  return {
    id: template.id,
    elementName: template.name,
    category: template.category,
    status: template.status.toUpperCase(),
    language: { key: template.language, value: template.language, text: template.language },
    body,
    bodyOriginal: body,
    header: null,
    footer: null,
    buttons: [],
    buttonsType: 'none',
    customParams: names.map((name) => ({ paramName: name, paramValue: name })),
    lastModified: '2026-01-01T00:00:00.000Z',
  };
}
