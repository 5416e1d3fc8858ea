import { escape, line } from './html.mjs';

const nameOf = (reference) => reference.split('/').at(-1);

/** A schema in a few words: `integer, 1 to 500`, `list of Contact`. */
export function typeOf(schema) {
  if (!schema || Object.keys(schema).length === 0) return 'anything';
  if (schema.$ref) return `<a href="#schema-${escape(nameOf(schema.$ref))}">${escape(nameOf(schema.$ref))}</a>`;
  if ('const' in schema) return `<code>${escape(JSON.stringify(schema.const))}</code>`;
  if (schema.enum) return schema.enum.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(' | ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(' | ');
  if (schema.allOf) return schema.allOf.map(typeOf).join(' and ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}${bounds(schema.minItems, schema.maxItems, ' entries')}`;
  if (schema.type === 'object' && typeof schema.additionalProperties === 'object' && !schema.properties)
    return `object with values of ${typeOf(schema.additionalProperties)}`;
  const words = [schema.format ? `${schema.type} (${schema.format})` : (schema.type ?? 'anything')];
  const limits =
    schema.type === 'string'
      ? bounds(schema.minLength, schema.maxLength, ' characters')
      : schema.type === 'integer' || schema.type === 'number'
        ? bounds(schema.minimum ?? schema.exclusiveMinimum, schema.maximum, '')
        : '';
  const fallback = schema.default === undefined ? '' : `; without it <code>${escape(JSON.stringify(schema.default))}</code>`;
  return `${escape(words.join(''))}${limits}${fallback}`;
}

const largest = 2 ** 53 - 1;

function bounds(least, most, unit) {
  const [from, to] = [least > -largest ? least : undefined, most < largest ? most : undefined];
  if (from === undefined && to === undefined) return '';
  if (from === undefined) return `, up to ${to}${unit}`;
  return to === undefined ? `, from ${from}${unit} on` : `, ${from} to ${to}${unit}`;
}

/** The fields of a schema with those of what it contains; nothing for one without fields, or whose fields stand elsewhere. */
export function fieldsOf(schema) {
  if (!schema || schema.$ref) return '';
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (inner.length) return inner.map(fieldsOf).join('');
  if (schema.items) return fieldsOf(schema.items);
  if (typeof schema.additionalProperties === 'object' && !schema.properties) return fieldsOf(schema.additionalProperties);
  const entries = Object.entries(schema.properties ?? {});
  if (!entries.length) return '';
  const required = new Set(schema.required ?? []);
  const fields = entries.map(
    ([name, field]) =>
      `<li><code>${escape(name)}</code>${required.has(name) ? '' : '<i>?</i>'} <span>${typeOf(field)}</span> ${line(field.description)}${fieldsOf(field)}</li>`,
  );
  return `<ul class="fields">${fields.join('')}</ul>`;
}
