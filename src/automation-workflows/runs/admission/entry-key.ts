import { renderText, type Scope } from '../../../expressions/templates/render.ts';

/** What a run is keyed by: the trigger's or workflow's template, else the contact, else the event. */
export function renderEntryKey(
  template: string | null | undefined,
  scope: Scope,
  contactId: number | null,
  eventId: number | null,
): string | null {
  if (template) return renderText(template, scope).trim() || null;
  if (contactId !== null) return String(contactId);
  return eventId === null ? null : String(eventId);
}
