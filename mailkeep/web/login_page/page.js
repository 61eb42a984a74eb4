"use strict";

// One page, four views: the door, the second step, who is in, recovery codes. Everything shown of an answer is text.

const API = "/api/v1";
const view = document.getElementById("view");
const told = document.getElementById("told");

const CODES = {
  AUTH_REQUIRED: "Please log in.",
  CONFLICT: "That identity belongs to another account, or yours has one already.",
  FORBIDDEN: "You may not log in this way, or not from here.",
  INVALID_CREDENTIALS: "It was not confirmed who you are.",
  NOT_FOUND: "There is no such way to log in here.",
  RATE_LIMIT_EXCEEDED: "Too many tries. Wait a moment, then try again.",
  SESSION_INVALID: "The login took too long, or was begun in another window. Begin again.",
  UNAVAILABLE: "This way to log in does not work at the moment. Try again, or take another one.",
};
const REASONS = {
  access_denied: "The identity provider, or you there, said no.",
  already_linked: "Your account is linked to another identity already. Unlink that one first.",
  cross_site: "The call came from another site.",
  identity_taken: "That identity belongs to another account.",
  last_factor: "Your role needs a second factor, and this is the last one. Register another one first.",
  last_way_in: "Without it you could not log in any more.",
  login_again: "Your login is more than 15 minutes old. Log in again for this.",
  network: "Logging in is not allowed from this network.",
  no_account: "No account of this server belongs to that identity. An administrator can make one.",
  not_linked: "Log in another way first, then link that identity to your account.",
  public_url: "Passkeys are not possible at the address that this server was set up with.",
};
const BROWSER = {
  InvalidStateError: "This device holds a passkey of your account already.",
  NotAllowedError: "No passkey was chosen, or the time was up.",
  SecurityError: "Passkeys do not work at this address: open the page at the server's public address.",
};

class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.code = error.code;
    this.reason = (error.details || {}).reason;
  }
}

async function call(method, path, body) {
  const sent = body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(API + path, { method, ...sent });
  } catch {
    throw new Error("The server does not answer.");
  }
  const envelope = await answer.json().catch(() => ({ error: { code: "", message: `The server answered ${answer.status}.` } }));
  if (envelope.error) throw new Refused(envelope.error);
  return envelope.data;
}

function words(error) {
  if (error instanceof DOMException) return BROWSER[error.name] || "The browser could not use a passkey.";
  return REASONS[error.reason] || error.message;
}

function tell(text) {
  told.textContent = text || "";
  told.hidden = !text;
}

function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child));
  return element;
}

function show(...children) {
  view.replaceChildren(...children.filter((child) => child));
  const first = view.querySelector("input");
  if (first) first.focus();
}

function field(label, properties) {
  const input = make("input", { required: true, ...properties });
  return [make("label", {}, label, input), input];
}

// What a button or a form does: one at a time, and what goes wrong is told.
function doing(work) {
  return async (event) => {
    event.preventDefault();
    const busy = view.querySelectorAll("button");
    busy.forEach((each) => (each.disabled = true));
    tell("");
    try {
      await work();
    } catch (error) {
      tell(words(error));
    } finally {
      busy.forEach((each) => (each.disabled = false));
    }
  };
}

const button = (text, work, properties) => make("button", { type: "button", textContent: text, onclick: doing(work), ...properties });
const submit = (text) => make("button", { type: "submit", textContent: text });

// Passkeys: bytes are base64url on the wire (Web Authentication Level 3, 5.1.8)

const hasPasskeys = () => typeof PublicKeyCredential === "function" && Boolean(navigator.credentials);

function bytes(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
}

function text(buffer) {
  const binary = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const descriptors = (list) => list.map((each) => ({ ...each, id: bytes(each.id) }));

function credential(found, members) {
  const response = {};
  for (const name of members) if (found.response[name]) response[name] = text(found.response[name]);
  if (found.response.getTransports) response.transports = found.response.getTransports();
  return { id: found.id, rawId: text(found.rawId), type: found.type, response };
}

async function byPasskey(waiting) {
  const which = waiting ? { totp_session: waiting } : {};
  const { options } = await call("POST", "/auth/passkeys/login/options", which);
  const publicKey = { ...options, challenge: bytes(options.challenge), allowCredentials: descriptors(options.allowCredentials) };
  const found = await navigator.credentials.get({ publicKey });
  const used = credential(found, ["clientDataJSON", "authenticatorData", "signature", "userHandle"]);
  await call("POST", "/auth/passkeys/login/verify", { credential: used, ...which });
  await start();
}

async function register(name, proof) {
  const { options } = await call("POST", "/auth/passkeys/register/options", proof);
  const publicKey = {
    ...options,
    challenge: bytes(options.challenge),
    user: { ...options.user, id: bytes(options.user.id) },
    excludeCredentials: descriptors(options.excludeCredentials),
  };
  const found = await navigator.credentials.create({ publicKey });
  const made = credential(found, ["clientDataJSON", "attestationObject"]);
  return call("POST", "/auth/passkeys/register/verify", { name, credential: made });
}

// The door

async function door() {
  document.title = "Log in · Mailkeep";
  const providers = await call("GET", "/auth/oidc/providers").catch(() => []);
  const [emailLabel, email] = field("Email", { type: "email", name: "email", autocomplete: "username" });
  const [passwordLabel, password] = field("Password", { type: "password", name: "password", autocomplete: "current-password" });
  const form = make("form", { noValidate: true }, emailLabel, passwordLabel, submit("Log in"));
  form.onsubmit = doing(async () => {
    const done = await call("POST", "/auth/login", { email: email.value.trim(), password: password.value });
    if (done.requires_totp) secondStep(done.totp_session, done.methods);
    else await start();
  });
  const ways = providers.map((each) => make("a", { className: "way", href: each.login_path, textContent: `Continue with ${each.name}` }));
  if (hasPasskeys()) ways.unshift(button("Sign in with a passkey", () => byPasskey()));
  show(form, make("div", { className: "ways" }, ...ways), links());
}

function secondStep(waiting, methods) {
  const parts = [make("p", {}, "One more step.")];
  if (methods.includes("passkey") && hasPasskeys()) parts.push(button("Sign in with a passkey", () => byPasskey(waiting)));
  const code = (label, name, properties) => {
    const [labelled, input] = field(label, { autocomplete: "off", spellcheck: false, ...properties });
    const form = make("form", { noValidate: true }, labelled, submit("Log in"));
    form.onsubmit = doing(async () => {
      await call("POST", "/auth/login", { totp_session: waiting, [name]: input.value.replace(/\s/g, "") });
      await start();
    });
    return form;
  };
  if (methods.includes("totp")) parts.push(code("Code", "totp_code", { autocomplete: "one-time-code", inputMode: "numeric" }));
  if (methods.includes("recovery_code")) {
    const summary = make("summary", {}, "Use a recovery code");
    parts.push(make("details", {}, summary, code("Recovery code", "recovery_code", {})));
  }
  parts.push(make("p", {}, button("Back", door)));
  show(make("div", { className: "ways" }, ...parts));
}

const links = () => make("p", { className: "soft" }, make("a", { href: "/docs", textContent: "API documentation" }));

// Who is in

async function inside(me) {
  document.title = "Mailkeep";
  const [passkeys, providers] = await Promise.all([
    call("GET", "/auth/passkeys"),
    call("GET", "/auth/oidc/providers").catch(() => []),
  ]);
  const role = me.role.replace("_", " ");
  show(
    make("p", {}, "Signed in as ", make("strong", { textContent: me.email }), ` (${role}).`),
    me.second_factor_required && make("p", { className: "note", textContent: "Your role needs a second factor: register a passkey to go on." }),
    make("p", {}, make("a", { href: "/", textContent: "Go to the start page" })),
    make("h2", {}, "Passkeys"),
    passkeyList(passkeys),
    hasPasskeys() ? passkeyForm() : make("p", { className: "soft", textContent: "Browsers have passkeys on https and on localhost only." }),
    providers.length > 0 && make("h2", {}, "Single sign-on"),
    providers.length > 0 && identity(me, providers),
    make("h2", {}, "Session"),
    button("Log out", async () => {
      await call("POST", "/auth/logout");
      await start();
    }),
  );
}

function passkeyList(passkeys) {
  if (!passkeys.length) return make("p", { className: "soft", textContent: "None yet." });
  const lines = passkeys.map((each) => {
    const path = `/auth/passkeys/${each.id}`;
    const used = each.last_used_at ? `last used ${each.last_used_at.slice(0, 10)}` : "never used";
    const rename = button("Rename", async () => {
      const name = window.prompt("Another name", each.name);
      if (name) await call("PATCH", path, { name });
      await start();
    });
    const remove = button("Delete", async () => {
      if (!window.confirm(`Delete the passkey ${each.name}? Your other sessions end.`)) return;
      await again((proof) => call("DELETE", path, proof));
      await start();
    });
    rename.ariaLabel = `Rename ${each.name}`;
    remove.ariaLabel = `Delete ${each.name}`;
    return make("li", {}, make("span", {}, each.name, make("span", { className: "soft", textContent: ` ${used}` })), rename, remove);
  });
  return make("ul", { className: "passkeys" }, ...lines);
}

function passkeyForm() {
  const [label, name] = field("Name of a new passkey", { value: "Passkey", maxLength: 100, autocomplete: "off" });
  const form = make("form", {}, label, submit("Register a passkey"));
  form.onsubmit = doing(async () => {
    const made = await again((proof) => register(name.value.trim() || "Passkey", proof));
    if (made.recovery_codes) recovery(made.recovery_codes);
    else await start();
  });
  return form;
}

// A change of how one logs in, with the password where the session is too old to do without.
async function again(change) {
  try {
    return await change({});
  } catch (error) {
    if (error.reason !== "login_again") throw error;
    const current_password = await askPassword();
    if (!current_password) throw error;
    return change({ current_password });
  }
}

function askPassword() {
  const [label, input] = field("Current password", { type: "password", autocomplete: "current-password" });
  const form = make("form", { method: "dialog" }, label, submit("Go on"));
  const dialog = make("dialog", {}, make("p", {}, "Your login is more than 15 minutes old."), form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    form.onsubmit = () => resolve(input.value);
    dialog.onclose = () => {
      dialog.remove();
      resolve("");
    };
  });
}

function recovery(codes) {
  const lead = "Keep these recovery codes safe: each opens a login once, where the passkey is lost. They are not shown again.";
  const list = make("ul", { className: "codes" }, ...codes.map((code) => make("li", { textContent: code })));
  show(make("p", { className: "note", textContent: lead }), list, button("I have kept them", start));
}

function identity(me, providers) {
  if (!me.oidc_provider) {
    const ways = providers.map((each) => make("a", { className: "way", href: `${each.login_path}?link=1`, textContent: `Link ${each.name}` }));
    return make("div", { className: "ways" }, ...ways);
  }
  const linked = providers.find((each) => each.id === me.oidc_provider);
  const name = linked ? linked.name : me.oidc_provider;
  const unlink = button(`Unlink ${name}`, async () => {
    await call("DELETE", "/auth/oidc/disconnect");
    await start();
  });
  return make("div", { className: "ways" }, make("p", {}, `Linked with ${name}.`), unlink);
}

async function start() {
  try {
    await inside(await call("GET", "/auth/me"));
  } catch (error) {
    if (!["AUTH_REQUIRED", "SESSION_INVALID"].includes(error.code)) tell(words(error));
    await door();
  }
}

// Where a provider has sent the browser back: with a login that waits for its second factor, or with a refusal.
function arrive() {
  document.getElementById("unsafe").hidden = window.isSecureContext;
  const waiting = new URLSearchParams(window.location.hash.slice(1));
  const query = new URLSearchParams(window.location.search);
  window.history.replaceState(null, "", window.location.pathname);
  const code = query.get("error");
  if (code) tell(REASONS[query.get("reason")] || CODES[code] || `The login did not work (${code}).`);
  if (waiting.get("totp_session")) secondStep(waiting.get("totp_session"), (waiting.get("methods") || "totp").split(","));
  else start();
}

arrive();
