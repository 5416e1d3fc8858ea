import { escape, json, line, pretty, prose } from './html.mjs';
import { fieldsOf, typeOf } from './schema.mjs';

/** One operation: a line that can be searched, and below it what it takes, what it answers, and a form to send it. */
export function operationHtml(document, { method, path, operation }) {
  const id = operation.operationId;
  const parameters = (operation.parameters ?? []).map((one) => resolve(document, one));
  const shown = parameters.filter((one) => one.in !== 'header');
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  return `<details class="operation" id="${escape(id)}" data-method="${method}" data-path="${escape(path)}"${data('links', success?.[1].links)}${data(
    'examples',
    examplesOf(operation),
  )}>
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${escape(path.replace('/api/v1', ''))}</code> <span>${line(operation.summary)}</span> <small>${escape(id)}</small></summary>
<div class="inside">${prose(operation.description)}
<form>${shown.map((one) => parameterHtml(id, one)).join('')}${bodyHtml(document, id, operation.requestBody)}
<p class="actions">${exampleChoice(operation)}<button type="submit">Send</button> <button type="button" data-act="copy">Copy as curl</button></p></form>
<div class="answer" role="status" aria-live="polite" hidden></div>
<h4>Answers</h4>${Object.entries(operation.responses)
    .map(([status, response]) => responseHtml(status, resolve(document, response)))
    .join('')}</div></details>`;
}

const data = (name, value) => (value === undefined ? '' : ` data-${name}="${json(value)}"`);

const resolve = (document, value) =>
  value.$ref
    ? value.$ref
        .replace('#/', '')
        .split('/')
        .reduce((at, part) => at[part], document)
    : value;

const first = (holder) => holder?.example ?? Object.values(holder?.examples ?? {})[0]?.value;

function parameterHtml(id, { name, in: place, required, description, schema = {}, ...rest }) {
  const field = `${id}.${name}`;
  const value = first(rest) ?? '';
  return `<p class="parameter"><label for="${escape(field)}"><code>${escape(name)}</code>${required ? '' : '<i>?</i>'} <span>${typeOf(schema)}</span> ${line(description)}</label>
<input id="${escape(field)}" data-in="${place}" name="${escape(name)}" value="${escape(value)}"${required ? ' required' : ''} autocomplete="off" spellcheck="false"></p>`;
}

function bodyHtml(document, id, requestBody) {
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (!type) return '';
  const schema = media.schema ?? {};
  const value = first(media) ?? resolve(document, schema).example ?? (type === 'application/json' ? {} : '');
  const file = type === 'application/json' ? '' : `<input type="file" aria-label="A file as the body">`;
  return `<p class="parameter"><label for="${escape(id)}.body"><b>Body</b> <span>${escape(type)}</span> ${typeOf(schema)}</label>
<textarea id="${escape(id)}.body" data-type="${escape(type)}" rows="${Math.min(24, pretty(value).split('\n').length + 1)}" spellcheck="false">${escape(pretty(value))}</textarea>${file}</p>${fieldsOf(schema)}`;
}

function responseHtml(status, response) {
  const contents = Object.entries(response.content ?? {}).map(([type, media]) => {
    const example = first(media);
    const shownExample = example === undefined ? '' : `<pre>${escape(pretty(example))}</pre>`;
    return `<p><code>${status}</code> ${line(response.description)} <span>${type === 'application/json' ? '' : escape(type)} ${typeOf(media.schema)}</span></p>${status.startsWith('2') ? fieldsOf(media.schema) + shownExample : ''}`;
  });
  return contents.join('') || `<p><code>${status}</code> ${line(response.description)}</p>`;
}

/** Of an operation with several named examples: `{ name: { summary, path, query, body } }`. */
function examplesOf(operation) {
  const named = {};
  const take = (holder, put) => {
    for (const [name, { summary, value }] of Object.entries(holder?.examples ?? {})) put((named[name] ??= { summary, fields: {} }), value);
  };
  for (const parameter of operation.parameters ?? []) take(parameter, (one, value) => (one.fields[parameter.name] = value));
  const [media] = Object.values(operation.requestBody?.content ?? {});
  take(media, (one, value) => (one.body = pretty(value)));
  return Object.keys(named).length > 1 ? named : undefined;
}

function exampleChoice(operation) {
  const named = examplesOf(operation);
  if (!named) return '';
  const choices = Object.entries(named).map(([name, { summary }]) => `<option value="${escape(name)}">${escape(summary ?? name)}</option>`);
  return `<label>Example <select data-act="example">${choices.join('')}</select></label> `;
}
