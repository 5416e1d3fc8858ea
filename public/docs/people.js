// The page that the links of invitations and password resets open. The token stands behind # and leaves the address as soon as it is read.
const element = (id) => document.getElementById(id);
const [kind, token] = location.hash.slice(1).split('=');
history.replaceState(null, '', location.pathname);

/** Posts JSON and answers the body. Throws the service's own sentence. */
async function post(path, body) {
  const answer = await fetch(`/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const read = await answer.json();
  if (answer.ok) return read;
  const { detail, message } = read;
  throw new Error(Array.isArray(detail) ? detail.map(({ msg }) => msg).join('. ') : (message ?? detail));
}

function show(title, about) {
  element('title').textContent = title;
  element('about').textContent = about;
}

/** Shows the form; `send` answers the sentence that takes its place. */
function ask(send) {
  element('form').hidden = false;
  element('form').addEventListener('submit', async (event) => {
    event.preventDefault();
    element('send').disabled = true;
    element('result').textContent = '';
    try {
      element('result').textContent = await send(element('password').value);
      element('form').hidden = true;
    } catch (error) {
      element('result').textContent = error.message;
    }
    element('send').disabled = false;
  });
}

async function openInvitation() {
  const { organization_name: organization, role, email } = await post('/auth/invitations/preview', { token });
  show(`Join ${organization}`, `You are invited with the role ${role}. With an account of yours, give its password.`);
  if (email) {
    element('email').value = email;
    element('email').readOnly = true;
  }
  ask(async (password) => {
    const name = element('name').value.trim();
    await post('/auth/invitations/accept', { token, email: element('email').value, password, ...(name && { name }) });
    return `You are a member of ${organization}, and logged in.`;
  });
}

function openPasswordReset() {
  show('Choose a new password', 'All sessions of your account end.');
  element('email-field').hidden = true;
  element('email').required = false;
  element('name-field').hidden = true;
  ask(async (password) => {
    await post('/auth/password/reset', { token, new_password: password });
    return 'Your password is changed. Log in with it.';
  });
}

try {
  if (kind === 'invitation' && token) await openInvitation();
  else if (kind === 'password-reset' && token) openPasswordReset();
  else show('This link is incomplete', 'Open it again from where you got it.');
} catch (error) {
  show('This link does not work', error.message);
}
