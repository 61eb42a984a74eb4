// Draws the documentation from openapi.json. Everything that comes from the document becomes text nodes.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const ROLES = { domain_admin: "domain_admin and above", admin: "admin and above", super_admin: "super_admin" };
const USUAL = new Set([
  "INVALID_JSON", "INVALID_FIELD", "AUTH_REQUIRED", "SESSION_INVALID", "API_KEY_INVALID", "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", "UNAVAILABLE",
]);

let spec;

/** An element with properties and children; strings become text. */
function el(name, properties, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return node;
}

function resolve(thing) {
  if (!thing || !thing.$ref) return thing;
  return thing.$ref.slice(2).split("/").reduce((at, part) => at[part], spec);
}

// Prose: `code` and CODES, paragraphs, headings, fenced code, tables, lists.

function inline(text) {
  return text.split(/(`[^`]+`|\b[A-Z]+(?:_[A-Z]+)+\b)/).map((part, index) =>
    index % 2 ? el("code", {}, part.replaceAll("`", "")) : part);
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function tableOf(lines) {
  const [head, , ...rows] = lines.map(cells);
  return el("div", { class: "table" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, inline(cell))))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, inline(cell))))))));
}

function prose(markdown) {
  const nodes = [];
  const blocks = markdown.split(/(```[^]*?```)/);
  for (const block of blocks) {
    if (block.startsWith("```")) {
      nodes.push(panel("Example", block.slice(3, -3).trim()));
      continue;
    }
    for (const text of block.split(/\n{2,}/)) {
      const lines = text.trim().split("\n");
      if (!lines[0]) continue;
      if (lines[0].startsWith("## ")) {
        nodes.push(el("h2", {}, lines.shift().slice(3)));
        if (!lines.length) continue;
      }
      if (lines[0].startsWith("|")) nodes.push(tableOf(lines));
      else if (lines[0].startsWith("- ")) nodes.push(el("ul", {}, lines.map((line) => el("li", {}, inline(line.slice(2))))));
      else nodes.push(el("p", {}, inline(lines.join(" "))));
    }
  }
  return nodes;
}

// Code panels.

function coloured(text) {
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?\b)/g;
  const nodes = [];
  let done = 0;
  for (const match of text.matchAll(token)) {
    nodes.push(text.slice(done, match.index));
    if (match[1]) nodes.push(el("span", { class: match[2] ? "w" : "s" }, match[1]), match[2] || "");
    else nodes.push(el("span", { class: match[3] ? "w" : "n" }, match[0]));
    done = match.index + match[0].length;
  }
  nodes.push(text.slice(done));
  return nodes;
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without a secure context there is no clipboard: select by hand what a person can then copy.
    const range = document.createRange();
    range.selectNodeContents(button.closest(".panel").querySelector("pre"));
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    button.textContent = "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
    return;
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1600);
}

function panel(title, text, plain) {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy: ${title}` }, "Copy");
  button.addEventListener("click", () => copy(button, text));
  return el("div", { class: "panel" },
    el("div", { class: "panel-head" }, el("span", {}, title), button),
    el("pre", { tabindex: "0", "aria-label": title }, el("code", {}, plain ? text : coloured(text))));
}

// Schemas.

function parts(schema) {
  const found = resolve(schema);
  if (found.anyOf) {
    const some = found.anyOf.filter((each) => each.type !== "null");
    return { schema: { ...resolve(some[0]), ...(found.description && { description: found.description }) }, nullable: true };
  }
  if (Array.isArray(found.type)) return { schema: { ...found, type: found.type[0] }, nullable: found.type.includes("null") };
  return { schema: found, nullable: false };
}

function typeOf(given) {
  const { schema, nullable } = parts(given);
  let name = schema.format || schema.type || "any";
  if (schema.type === "array") name = `array of ${typeOf(schema.items || {})}`;
  if (schema.contentEncoding) name = schema.contentEncoding;
  return nullable ? `${name} or null` : name;
}

function bounds(schema) {
  const said = [];
  if (schema.minimum !== undefined && schema.maximum !== undefined) said.push(`${schema.minimum} to ${schema.maximum}`);
  else if (schema.minimum !== undefined) said.push(`at least ${schema.minimum}`);
  else if (schema.maximum !== undefined) said.push(`at most ${schema.maximum}`);
  if (schema.maxLength !== undefined) said.push(`at most ${schema.maxLength} characters`);
  if (schema.maxItems !== undefined) said.push(`at most ${schema.maxItems} items`);
  if (schema.maxProperties !== undefined) said.push(`at most ${schema.maxProperties} entries`);
  return said.join(", ");
}

function inner(schema) {
  const { schema: found } = parts(schema);
  if (found.type === "array" && found.items) return inner(found.items);
  return found.properties ? found : null;
}

function field(name, given, required, depth) {
  const { schema } = parts(given);
  const notes = [];
  if (schema.enum) {
    const values = schema.enum.filter((value) => value !== null);
    notes.push(values.map((value, index) => [index ? ", " : "", el("code", {}, String(value))]));
  }
  const more = [];
  if (given.description || schema.description) more.push(inline(given.description || schema.description));
  if (schema.default !== undefined && schema.default !== "") more.push(["default ", el("code", {}, JSON.stringify(schema.default))]);
  const below = depth < 4 ? inner(given) : null;
  return el("li", {},
    el("div", { class: "field-head" },
      el("code", { class: "field-name" }, name),
      el("span", { class: "field-type" }, [typeOf(given), bounds(schema)].filter(Boolean).join(", ")),
      required && el("span", { class: "field-need" }, "required")),
    notes.length ? el("p", { class: "field-more" }, "One of ", notes) : "",
    more.map((each) => el("p", { class: "field-more" }, each)),
    below && el("details", { class: "inner" },
      el("summary", {}, `Fields of ${name}`), fieldsOf(below, depth + 1)));
}

function fieldsOf(schema, depth = 0) {
  const required = new Set(schema.required || []);
  const asked = schema.additionalProperties === false; // in answers every field is there
  return el("ul", { class: "fields" },
    Object.entries(schema.properties).map(([name, given]) => field(name, given, asked && required.has(name), depth)));
}

// Calls.

function curl(call) {
  const open = call.security && call.security.length === 0;
  let path = call.path;
  const query = [];
  for (const parameter of call.parameters) {
    if (parameter.example === undefined) continue;
    const value = encodeURIComponent(String(parameter.example));
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value);
    else query.push(`${parameter.name}=${value}`);
  }
  const address = location.origin + call.base + path + (query.length ? `?${query.join("&")}` : "");
  const lines = [`curl ${call.method === "get" ? "" : `-X ${call.method.toUpperCase()} `}'${address}'`];
  if (!open) {
    const keys = call.security.some((each) => "api_key" in each);
    lines.push(keys ? "-H \"Authorization: Bearer $MAILKEEP_KEY\"" : "-b \"svc_session=$MAILKEEP_SESSION\"");
  }
  if (call.example !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(call.example, null, 2).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

function parameters(call, where, title) {
  const some = call.parameters.filter((parameter) => parameter.in === where);
  if (!some.length) return null;
  return [el("h4", {}, title), el("ul", { class: "fields" },
    some.map((each) => field(each.name, { ...each.schema, description: each.description }, each.required, 1)))];
}

function refusals(call) {
  const rows = [];
  const usual = [];
  for (const [status, given] of Object.entries(call.responses)) {
    if (status < "400") continue;
    const examples = resolve(given).content["application/json"].examples;
    for (const [code, example] of Object.entries(examples)) {
      if (USUAL.has(code)) usual.push([status, code]);
      else rows.push(el("tr", {}, el("td", {}, status), el("td", {}, el("code", {}, code)), el("td", { class: "means" }, example.value.error.message)));
    }
  }
  const also = el("p", { class: "usual" }, rows.length ? "And, as any call of its kind: " : "As any call of its kind: ",
    usual.map(([, code], index) => [index ? ", " : "", el("code", {}, code)]).flat(), ".");
  return [el("h4", {}, "Refusals"), rows.length ? el("div", { class: "table" }, el("table", { class: "codes" }, el("tbody", {}, rows))) : null, also];
}

function who(call) {
  const role = call["x-required-role"];
  if (!role) return el("ul", { class: "who" }, el("li", {}, el("strong", {}, "Open"), ": needs no credentials"));
  return el("ul", { class: "who" },
    el("li", {}, "Role: ", el("strong", {}, ROLES[role] || role)),
    el("li", {}, "Keys scoped to domains: ", el("strong", {}, call["x-scoped-keys"])));
}

function pathOf(call) {
  return el("code", {}, (call.base + call.path).split(/(\{[^}]+\})/).map((part) =>
    part.startsWith("{") ? el("span", { class: "hole" }, part) : part));
}

function draw(call) {
  const success = Object.entries(call.responses).find(([status]) => status < "400");
  const [kind, content] = Object.entries(resolve(success[1]).content || {})[0] || [null, {}];
  const data = content.schema && content.schema.properties && content.schema.properties.data;
  const shape = data && inner(data);
  const samples = [panel("Request", curl(call), true)];
  if (content.example) samples.push(panel(`Answer ${success[0]}`, JSON.stringify(content.example, null, 2)));
  const asked = call.requestBody && resolve(call.requestBody.content["application/json"].schema);
  const bodies = asked ? (asked.oneOf || [asked]).map(resolve) : [];
  const list = data && parts(data).schema.type === "array";
  return el("article", { class: "call", id: call.operationId, "aria-labelledby": `${call.operationId}-title` },
    el("div", { class: "call-head" },
      el("h3", { id: `${call.operationId}-title` }, el("a", { href: `#${call.operationId}` }, call.summary)),
      el("p", { class: "path" }, el("span", { class: `verb badge ${call.method}` }, call.method), pathOf(call)),
      who(call)),
    el("div", { class: "call-text" },
      call.description && el("p", { class: "say" }, inline(call.description)),
      parameters(call, "path", "Path") || "",
      parameters(call, "query", "Query") || "",
      bodies.map((body, index) => [el("h4", {}, index ? "Or the body" : "Body"),
        body.description ? el("p", { class: "field-more" }, inline(body.description)) : "", fieldsOf(body)]),
      shape ? [el("h4", {}, "Answer"), el("p", { class: "field-more" }, list ? "An array. " : "", inline(shape.description || "")),
        el("details", { class: "inner" }, el("summary", {}, list ? "Fields of each" : "Fields"), fieldsOf(shape, 0))] : "",
      !shape && kind && kind !== "application/json" ? [el("h4", {}, "Answer"), el("p", { class: "field-more" }, "Content of type ", el("code", {}, kind), ", without the envelope.")] : "",
      refusals(call).filter(Boolean)),
    el("div", { class: "samples" }, samples));
}

function callsOf(document_) {
  const calls = [];
  for (const [path, item] of Object.entries(document_.paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const call = item[method];
      const content = call.requestBody && call.requestBody.content["application/json"];
      const base = (item.servers || document_.servers)[0].url.replace(/\/$/, "");
      calls.push({
        ...call, path, method, base,
        parameters: (call.parameters || []).map(resolve),
        example: content && Object.values(content.examples || {})[0]?.value,
      });
    }
  }
  return calls;
}

// Navigation.

function toc(areas) {
  const group = (title, id, items) => el("section", { class: "toc-group" },
    el("h2", {}, el("a", { href: `#${id}` }, title)), el("ul", {}, items));
  return areas.map(({ tag, id, calls }) => group(tag.name, id, calls.map((call) =>
    el("li", { "data-words": `${call.method} ${call.path} ${call.summary} ${tag.name}`.toLowerCase() },
      el("a", { href: `#${call.operationId}` }, el("span", {}, call.summary),
        el("span", { class: `verb ${call.method}` }, call.method === "delete" ? "del" : call.method))))));
}

function filterBy(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const group of document.querySelectorAll(".toc-group")) {
    let any = false;
    for (const item of group.querySelectorAll("li")) {
      const fits = words.every((word) => item.dataset.words.includes(word));
      item.hidden = !fits;
      any = any || fits;
      count += fits ? 1 : 0;
    }
    group.hidden = !any;
  }
  document.getElementById("toc-none").hidden = count > 0;
  document.getElementById("filter-count").textContent = words.length ? `${count} endpoints` : "";
}

function followScroll() {
  const links = new Map([...document.querySelectorAll(".toc-group li a")].map((link) => [link.hash.slice(1), link]));
  let current = null;
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      if (current) current.removeAttribute("aria-current");
      current = links.get(entry.target.id);
      if (current) {
        current.setAttribute("aria-current", "true");
        current.scrollIntoView({ block: "nearest", behavior: "instant" });
      }
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  document.querySelectorAll(".call").forEach((call) => seen.observe(call));
}

function wire() {
  const filter = document.getElementById("filter");
  const side = document.getElementById("side");
  const menu = document.getElementById("menu");
  const open = (yes) => {
    side.classList.toggle("open", yes);
    menu.setAttribute("aria-expanded", String(yes));
  };
  filter.addEventListener("input", () => filterBy(filter.value));
  menu.addEventListener("click", () => open(!side.classList.contains("open")));
  side.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape") {
      if (typing) { filter.value = ""; filterBy(""); filter.blur(); }
      open(false);
    }
  });
}

function show(document_) {
  spec = document_;
  const calls = callsOf(spec);
  const areas = spec.tags.map((tag) => ({
    tag, id: `area-${tag.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`, calls: calls.filter((call) => call.tags.includes(tag.name)),
  }));
  document.getElementById("version").textContent = spec.info.version;
  document.getElementById("toc").append(...toc(areas),
    el("p", { class: "toc-none", id: "toc-none", hidden: true }, "Nothing fits."));
  document.getElementById("wait").remove();
  document.getElementById("content").append(
    el("section", { class: "prose", id: "introduction", "aria-label": "Introduction" },
      el("h1", {}, `${spec.info.title} API`),
      el("p", { class: "lead" }, spec.info.summary),
      el("p", { class: "address" }, "Address of this server: ", el("code", {}, location.origin + spec.servers[0].url)),
      prose(spec.info.description)),
    ...areas.map(({ tag, id, calls: some }) => el("section", { class: "area", id, "aria-labelledby": `${id}-title` },
      el("header", {}, el("h2", { id: `${id}-title` }, tag.name), prose(tag.description || "")),
      some.map(draw))));
  wire();
  followScroll();
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView({ behavior: "instant" });
}

fetch("openapi.json")
  .then((answer) => {
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json();
  })
  .then(show)
  .catch((error) => {
    const wait = document.getElementById("wait");
    if (!wait) throw error;
    wait.textContent = `The document could not be loaded (${error.message}).`;
    document.getElementById("wait").setAttribute("role", "alert");
  });
