// The page itself is text made from openapi.json; this sends what its forms hold.
const storedKey = 'api-key';
const keyField = document.querySelector('#key');
const keyState = document.querySelector('#key-state');

/** Storage that a browser may forbid. */
const storage = {
  read() {
    try {
      return localStorage.getItem(storedKey) ?? '';
    } catch {
      return '';
    }
  },
  write(key) {
    try {
      if (key) localStorage.setItem(storedKey, key);
      else localStorage.removeItem(storedKey);
    } catch {
      say(keyState, 'This browser keeps nothing for this page: the key is lost with a reload.', false);
    }
  },
};

function say(element, text, isGood) {
  element.textContent = text;
  element.className = isGood ? 'good' : 'bad';
}

const key = () => keyField.value.trim();

/** A key goes into its own header, the token of a session into Authorization. */
const credentials = () => (key() === '' ? {} : key().startsWith('vas_') ? { Authorization: `Bearer ${key()}` } : { 'X-API-Key': key() });

let checks = 0;
async function checkKey() {
  const check = ++checks;
  if (!key()) return say(keyState, '', true);
  const response = await fetch('/api/v1/organizations/current', { headers: credentials(), credentials: 'omit' }).catch(() => undefined);
  const body = await response?.json().catch(() => undefined);
  if (check !== checks) return undefined;
  if (response?.ok) return say(keyState, `The key works, for ${body.name}.`, true);
  return say(keyState, `The key does not work: ${body?.detail ?? 'the service does not answer'}.`, false);
}

let waiting;
keyField.addEventListener('input', () => {
  storage.write(key());
  clearTimeout(waiting);
  waiting = setTimeout(checkKey, 200);
});
document.querySelector('#key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  checkKey();
});
document.querySelector('#forget').addEventListener('click', () => {
  keyField.value = '';
  storage.write('');
  checks++;
  say(keyState, 'The key is forgotten.', true);
  keyField.focus();
});
keyField.value = storage.read();
checkKey();

const groups = [...document.querySelectorAll('details.group')];
const setGroups = (isOpen) => groups.forEach((group) => (group.open = isOpen));
document.querySelector('#open-all').addEventListener('click', () => setGroups(true));
document.querySelector('#fold-all').addEventListener('click', () => setGroups(false));

/** Opens what the address names, and what it is folded into. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let at = named; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  named?.scrollIntoView();
}
addEventListener('hashchange', openNamed);
if (location.hash) openNamed();

const inputs = (operation) => [...operation.querySelectorAll('input[data-in]')];
const bodyOf = (operation) => operation.querySelector('textarea[data-type]');

/** The request that a form stands for. An empty field is not sent. */
function requestOf(operation) {
  let path = operation.dataset.path;
  const query = new URLSearchParams();
  for (const { dataset, name, value } of inputs(operation)) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== '') query.set(name, value);
  }
  const body = bodyOf(operation);
  const file = operation.querySelector('input[type=file]')?.files[0];
  const content = file ?? (body?.value.trim() ? body.value : undefined);
  return {
    url: query.size ? `${path}?${query}` : path,
    method: operation.dataset.method.toUpperCase(),
    headers: { ...credentials(), ...(content === undefined ? {} : { 'Content-Type': body.dataset.type }) },
    body: content,
  };
}

const quoted = (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function curlOf({ url, method, headers, body }) {
  const parts = [`curl -X ${method} ${quoted(location.origin + url)}`, ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)];
  if (body !== undefined) parts.push(typeof body === 'string' ? `--data-binary ${quoted(body)}` : `--data-binary @${quoted(body.name)}`);
  return parts.join(' ');
}

function shown(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function send(operation) {
  const answer = operation.querySelector('.answer');
  const button = operation.querySelector('button[type=submit]');
  const request = requestOf(operation);
  const began = performance.now();
  button.disabled = true;
  try {
    const response = await fetch(request.url, { ...request, credentials: 'omit' });
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - began);
    const isText = /json|text|csv|xml/.test(response.headers.get('content-type') ?? '');
    show(answer, `${response.status} ${response.statusText}, ${milliseconds} ms`, response.ok, isText ? shown(text) : `${text.length} characters of ${response.headers.get('content-type')}`);
    if (response.ok) fillLinked(operation, text);
  } catch (error) {
    show(answer, `The service did not answer: ${error.message}`, false, '');
  }
  button.disabled = false;
}

function show(answer, heading, isGood, text) {
  const title = document.createElement('p');
  say(title, heading, isGood);
  const content = document.createElement('pre');
  content.tabIndex = 0;
  content.textContent = text;
  answer.replaceChildren(title, content);
  answer.hidden = false;
}

/** Puts what this answer made into the forms that need it, as the links of the document say. */
function fillLinked(operation, text) {
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    return;
  }
  const read = (expression) =>
    expression
      .replace('$response.body#/', '')
      .split('/')
      .reduce((at, part) => at?.[part], answer);
  for (const [target, link] of Object.entries(JSON.parse(operation.dataset.links ?? '{}'))) {
    const form = document.getElementById(target);
    if (!form) continue;
    for (const [name, expression] of Object.entries(link.parameters ?? {})) setInput(form, name.replace('path.', ''), read(expression));
    if (link['x-url']) setUrl(form, read(link['x-url']));
    if (link.requestBody) {
      const fields = Object.entries(link.requestBody).map(([name, expression]) => [name, read(expression)]);
      setBody(form, fields, Object.entries(link['x-when'] ?? {}));
    }
  }
}

function setInput(form, name, value) {
  const input = inputs(form).find((one) => one.name === name);
  if (input && value !== undefined) input.value = value;
}

function setUrl(form, address) {
  if (!address) return;
  const { pathname, searchParams } = new URL(address);
  const parts = pathname.split('/');
  form.dataset.path.split('/').forEach((part, index) => {
    if (part.startsWith('{')) setInput(form, part.slice(1, -1), decodeURIComponent(parts[index]));
  });
  for (const [name, value] of searchParams) setInput(form, name, value);
}

function setBody(form, fields, conditions) {
  const body = bodyOf(form);
  try {
    const value = JSON.parse(body.value);
    if (conditions.some(([name, wanted]) => value[name] !== wanted)) return;
    for (const [name, field] of fields) if (field !== undefined && name in value) value[name] = field;
    body.value = JSON.stringify(value, null, 2);
  } catch {
    // What somebody is typing stays as it is.
  }
}

document.addEventListener('submit', (event) => {
  const operation = event.target.closest('.operation');
  if (!operation) return;
  event.preventDefault();
  send(operation);
});
document.addEventListener('click', (event) => {
  if (event.target.dataset?.act !== 'copy') return;
  const operation = event.target.closest('.operation');
  const text = curlOf(requestOf(operation));
  const done = (heading, isGood) => show(operation.querySelector('.answer'), heading, isGood, text);
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
  copied.then(
    () => done('Copied.', true),
    () => done('This browser does not let the page copy; here it is:', false),
  );
});
document.addEventListener('change', (event) => {
  if (event.target.dataset?.act !== 'example') return;
  const operation = event.target.closest('.operation');
  const { fields, body } = JSON.parse(operation.dataset.examples)[event.target.value];
  for (const input of inputs(operation)) input.value = fields[input.name] ?? '';
  if (body !== undefined) bodyOf(operation).value = body;
});
