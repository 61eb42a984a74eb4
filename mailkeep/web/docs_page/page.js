// Renders openapi.json. All text from the document becomes text nodes, never HTML.
"use strict";

const METHODS = ["get", "post", "put", "patch", "delete"];
const ROLES = { domain_admin: "domain_admin and above", admin: "admin and above", super_admin: "super_admin" };
// Errors of nearly every operation: listed in one line.
const COMMON_ERRORS = new Set([
  "INVALID_JSON", "INVALID_FIELD", "AUTH_REQUIRED", "SESSION_INVALID", "API_KEY_INVALID", "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", "UNAVAILABLE",
]);

let spec; // the OpenAPI document

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

/** The object that a `$ref` points to, or the object itself. */
function resolve(node) {
  if (!node || !node.$ref) return node;
  return node.$ref.slice(2).split("/").reduce((at, part) => at[part], spec);
}

// A subset of Markdown: `code`, CODES, paragraphs, headings, fenced code, tables and lists.

function inlineText(text) {
  return text.split(/(`[^`]+`|\b[A-Z]+(?:_[A-Z]+)+\b)/).map((part, index) =>
    index % 2 ? el("code", {}, part.replaceAll("`", "")) : part);
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
}

function table(lines) {
  const [head, , ...rows] = lines.map(cells);
  return el("div", { class: "table" }, el("table", {},
    el("thead", {}, el("tr", {}, head.map((cell) => el("th", { scope: "col" }, inlineText(cell))))),
    el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell) => el("td", {}, inlineText(cell))))))));
}

function markdown(source) {
  const nodes = [];
  const blocks = source.split(/(```[^]*?```)/);
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
      if (lines[0].startsWith("|")) nodes.push(table(lines));
      else if (lines[0].startsWith("- ")) nodes.push(el("ul", {}, lines.map((line) => el("li", {}, inlineText(line.slice(2))))));
      else nodes.push(el("p", {}, inlineText(lines.join(" "))));
    }
  }
  return nodes;
}

// Code panels

function highlight(text) {
  const token = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|(-?\b\d+(?:\.\d+)?\b)/g;
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    nodes.push(text.slice(end, match.index));
    if (match[1]) nodes.push(el("span", { class: match[2] ? "w" : "s" }, match[1]), match[2] || "");
    else nodes.push(el("span", { class: match[3] ? "w" : "n" }, match[0]));
    end = match.index + match[0].length;
  }
  nodes.push(text.slice(end));
  return nodes;
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // There is no clipboard without a secure context (HTTPS): select the text for the user to copy.
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
    el("pre", { tabindex: "0", "aria-label": title }, el("code", {}, plain ? text : highlight(text))));
}

// Schemas

/** A schema without `null`, and whether it was nullable. */
function withoutNull(nullableSchema) {
  const schema = resolve(nullableSchema);
  if (schema.anyOf) {
    const types = schema.anyOf.filter((type) => type.type !== "null");
    return { schema: { ...resolve(types[0]), ...(schema.description && { description: schema.description }) }, nullable: true };
  }
  if (Array.isArray(schema.type)) return { schema: { ...schema, type: schema.type[0] }, nullable: schema.type.includes("null") };
  return { schema, nullable: false };
}

function typeOf(nullableSchema) {
  const { schema, nullable } = withoutNull(nullableSchema);
  let name = schema.format || schema.type || "any";
  if (schema.type === "array") name = `array of ${typeOf(schema.items || {})}`;
  if (schema.contentEncoding) name = schema.contentEncoding;
  return nullable ? `${name} or null` : name;
}

function bounds(schema) {
  const limits = [];
  if (schema.minimum !== undefined && schema.maximum !== undefined) limits.push(`${schema.minimum} to ${schema.maximum}`);
  else if (schema.minimum !== undefined) limits.push(`at least ${schema.minimum}`);
  else if (schema.maximum !== undefined) limits.push(`at most ${schema.maximum}`);
  if (schema.maxLength !== undefined) limits.push(`at most ${schema.maxLength} characters`);
  if (schema.maxItems !== undefined) limits.push(`at most ${schema.maxItems} items`);
  if (schema.maxProperties !== undefined) limits.push(`at most ${schema.maxProperties} entries`);
  return limits.join(", ");
}

/** The object schema whose fields are shown below a field: the schema, or the schema of an array's items. */
function objectSchema(schema) {
  const { schema: nonNull } = withoutNull(schema);
  if (nonNull.type === "array" && nonNull.items) return objectSchema(nonNull.items);
  return nonNull.properties ? nonNull : null;
}

function field(name, nullableSchema, required, depth) {
  const { schema } = withoutNull(nullableSchema);
  const values = (schema.enum || []).filter((value) => value !== null);
  const notes = [];
  if (nullableSchema.description || schema.description) notes.push(inlineText(nullableSchema.description || schema.description));
  if (schema.default !== undefined && schema.default !== "") notes.push(["default ", el("code", {}, JSON.stringify(schema.default))]);
  const children = depth < 4 ? objectSchema(nullableSchema) : null;
  return el("li", {},
    el("div", { class: "field-head" },
      el("code", { class: "field-name" }, name),
      el("span", { class: "field-type" }, [typeOf(nullableSchema), bounds(schema)].filter(Boolean).join(", ")),
      required && el("span", { class: "field-required" }, "required")),
    values.length > 0 && el("p", { class: "field-note" }, "One of ", joinWithCommas(values.map((value) => el("code", {}, String(value))))),
    notes.map((note) => el("p", { class: "field-note" }, note)),
    children && el("details", { class: "nested" },
      el("summary", {}, `Fields of ${name}`), fieldsOf(children, depth + 1)));
}

function joinWithCommas(nodes) {
  return nodes.map((node, index) => [index ? ", " : "", node]);
}

function fieldsOf(schema, depth = 0) {
  const required = new Set(schema.required || []);
  const isRequest = schema.additionalProperties === false; // all fields of a response are always present
  return el("ul", { class: "fields" },
    Object.entries(schema.properties).map(([name, fieldSchema]) => field(name, fieldSchema, isRequest && required.has(name), depth)));
}

// Operations

function curl(operation, body) {
  let path = operation.path;
  const query = [];
  for (const parameter of operation.parameters) {
    if (parameter.example === undefined) continue;
    const value = encodeURIComponent(String(parameter.example));
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value);
    else query.push(`${parameter.name}=${value}`);
  }
  const url = location.origin + operation.base + path + (query.length ? `?${query.join("&")}` : "");
  const lines = [`curl ${operation.method === "get" ? "" : `-X ${operation.method.toUpperCase()} `}'${url}'`];
  if (operation.security.length) {
    const acceptsApiKeys = operation.security.some((scheme) => "api_key" in scheme);
    lines.push(acceptsApiKeys ? "-H \"Authorization: Bearer $MAILKEEP_KEY\"" : "-b \"svc_session=$MAILKEEP_SESSION\"");
  }
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'");
    lines.push(`-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(" \\\n  ");
}

function parameters(operation, location, title) {
  const matching = operation.parameters.filter((parameter) => parameter.in === location);
  if (!matching.length) return null;
  return [el("h4", {}, title), el("ul", { class: "fields" },
    matching.map((parameter) => field(parameter.name, { ...parameter.schema, description: parameter.description }, parameter.required, 1)))];
}

/** The fields of a schema, or of each alternative of a `oneOf`, under a title. */
function alternatives(title, schema) {
  const schemas = (schema.oneOf || [schema]).map(resolve);
  return schemas.map((alternative, index) => [
    el("h4", {}, index ? `Or this ${title.toLowerCase()}` : title),
    alternative.description && el("p", { class: "field-note" }, inlineText(alternative.description)),
    alternative.properties && fieldsOf(alternative),
  ]);
}

function successResponse(content, mediaType) {
  const data = content.schema && content.schema.properties && content.schema.properties.data;
  if (data && resolve(data).oneOf) return alternatives("Response", resolve(data));
  const itemSchema = data && objectSchema(data);
  if (itemSchema) {
    const isList = withoutNull(data).schema.type === "array";
    return [el("h4", {}, "Response"), el("p", { class: "field-note" }, isList ? "An array. " : "", inlineText(itemSchema.description || "")),
      el("details", { class: "nested" }, el("summary", {}, isList ? "Fields of each item" : "Fields"), fieldsOf(itemSchema))];
  }
  if (!mediaType || mediaType === "application/json") return null;
  return [el("h4", {}, "Response"),
    el("p", { class: "field-note" }, "Content of type ", el("code", {}, mediaType), ", without the envelope.")];
}

function errors(operation) {
  const rows = [];
  const common = [];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (!(status >= "400")) continue;
    for (const [code, example] of Object.entries(resolve(response).content["application/json"].examples)) {
      if (COMMON_ERRORS.has(code)) common.push(el("code", {}, code));
      else rows.push(el("tr", {}, el("td", {}, status), el("td", {}, el("code", {}, code)), el("td", { class: "means" }, example.value.error.message)));
    }
  }
  return [el("h4", {}, "Errors"),
    rows.length > 0 && el("div", { class: "table" }, el("table", { class: "codes" }, el("tbody", {}, rows))),
    el("p", { class: "common" }, rows.length ? "Also, as for most operations: " : "As for most operations: ", joinWithCommas(common), ".")];
}

function access(operation) {
  const role = operation["x-required-role"];
  if (!role) return el("ul", { class: "access" }, el("li", {}, el("strong", {}, "Open"), ": needs no credentials"));
  return el("ul", { class: "access" },
    el("li", {}, "Role: ", el("strong", {}, ROLES[role] || role)),
    el("li", {}, "Keys scoped to domains: ", el("strong", {}, operation["x-scoped-keys"])));
}

function highlightPath(path) {
  return el("code", {}, path.split(/(\{[^}]+\})/).map((part) =>
    part.startsWith("{") ? el("span", { class: "placeholder" }, part) : part));
}

/** One operation: `head` below the title, `text` on the left, `panels` on the right. */
function article(operation, head, text, panels) {
  return el("article", { class: "call", id: operation.operationId, "aria-labelledby": `${operation.operationId}-title` },
    el("div", { class: "call-head" },
      el("h3", { id: `${operation.operationId}-title` }, el("a", { href: `#${operation.operationId}` }, operation.summary)), head),
    el("div", { class: "call-text" }, operation.description && el("p", { class: "description" }, inlineText(operation.description)), text),
    el("div", { class: "samples" }, panels));
}

function renderOperation(operation) {
  const [status, response] = Object.entries(operation.responses).find(([each]) => each < "400");
  const [mediaType, content] = Object.entries(resolve(response).content || {})[0] || [null, {}];
  const json = operation.requestBody && operation.requestBody.content["application/json"];
  const bodies = json ? Object.values(json.examples).map((example) => example.value) : [undefined];
  const panels = bodies.map((body, index) => panel(index ? "Another request" : "Request", curl(operation, body), true));
  if (content.example) {
    const isText = typeof content.example === "string";
    panels.push(panel(`Response ${status}`, isText ? content.example : JSON.stringify(content.example, null, 2), isText));
  }
  return article(operation,
    [el("p", { class: "path" }, el("span", { class: `verb badge ${operation.method}` }, operation.method), highlightPath(operation.base + operation.path)),
      access(operation)],
    [parameters(operation, "path", "Path"), parameters(operation, "query", "Query"), parameters(operation, "header", "Header"),
      json && alternatives("Body", resolve(json.schema)), successResponse(content, mediaType), errors(operation)],
    panels);
}

function renderWebhook(operation) {
  const { schema, example } = operation.requestBody.content["application/json"];
  return article(operation,
    el("p", { class: "path" }, el("span", { class: "verb badge post" }, "post"), el("code", {}, "the webhook's URL")),
    [parameters(operation, "header", "Header"), el("h4", {}, "Body"), fieldsOf(schema)],
    [panel("Body", JSON.stringify(example, null, 2))]);
}

function operationsOf(paths) {
  const operations = [];
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const operation = item[method];
      const base = (item.servers || spec.servers)[0].url.replace(/\/$/, "");
      operations.push({ ...operation, path, method, base, parameters: (operation.parameters || []).map(resolve) });
    }
  }
  return operations;
}

// Navigation

function navigation(areas) {
  return areas.map(({ title, id, operations }) => el("section", { class: "toc-group" },
    el("h2", {}, el("a", { href: `#${id}` }, title)),
    el("ul", {}, operations.map((each) => el("li", { "data-words": `${each.method} ${each.path} ${each.summary} ${title}`.toLowerCase() },
      el("a", { href: `#${each.operationId}` }, el("span", {}, each.summary),
        el("span", { class: `verb ${each.method}` }, each.method === "delete" ? "del" : each.method)))))));
}

function filterOperations(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const group of document.querySelectorAll(".toc-group")) {
    let hasMatch = false;
    for (const item of group.querySelectorAll("li")) {
      const isMatch = words.every((word) => item.dataset.words.includes(word));
      item.hidden = !isMatch;
      hasMatch = hasMatch || isMatch;
      count += isMatch ? 1 : 0;
    }
    group.hidden = !hasMatch;
  }
  document.getElementById("toc-none").hidden = count > 0;
  document.getElementById("filter-count").textContent = words.length ? `${count} operations` : "";
}

function markCurrentOperation() {
  const links = new Map([...document.querySelectorAll(".toc-group li a")].map((link) => [link.hash.slice(1), link]));
  let current = null;
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      if (current) current.removeAttribute("aria-current");
      current = links.get(entry.target.id);
      if (current) {
        current.setAttribute("aria-current", "true");
        current.scrollIntoView({ block: "nearest" });
      }
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  document.querySelectorAll(".call").forEach((call) => observer.observe(call));
}

function addListeners() {
  const filter = document.getElementById("filter");
  const side = document.getElementById("side");
  const menu = document.getElementById("menu");
  const setOpen = (isOpen) => {
    side.classList.toggle("open", isOpen);
    menu.setAttribute("aria-expanded", String(isOpen));
  };
  filter.addEventListener("input", () => filterOperations(filter.value));
  menu.addEventListener("click", () => setOpen(!side.classList.contains("open")));
  side.addEventListener("click", (event) => { if (event.target.closest("a")) setOpen(false); });
  document.addEventListener("keydown", (event) => {
    const input = event.target.closest("input, textarea, select");
    if (event.key === "/" && !input && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      filter.focus();
    } else if (event.key === "Escape") {
      if (input) { filter.value = ""; filterOperations(""); filter.blur(); }
      setOpen(false);
    }
  });
}

function areaOf(title, description, operations, render) {
  return { title, description, operations, render, id: `area-${title.toLowerCase().replace(/[^a-z0-9]+/g, "-")}` };
}

function renderPage(openapi) {
  spec = openapi;
  const operations = operationsOf(spec.paths);
  const areas = spec.tags.map((tag) =>
    areaOf(tag.name, tag.description || "", operations.filter((each) => each.tags.includes(tag.name)), renderOperation));
  areas.push(areaOf("Webhook deliveries", "What Mailkeep posts to the URL of a webhook, by kind of event.", operationsOf(spec.webhooks), renderWebhook));
  document.getElementById("version").textContent = spec.info.version;
  document.getElementById("toc").append(...navigation(areas), el("p", { class: "toc-none", id: "toc-none", hidden: true }, "No matching operations."));
  document.getElementById("loading").remove();
  document.getElementById("content").append(
    el("section", { class: "prose", id: "introduction", "aria-label": "Introduction" },
      el("h1", {}, `${spec.info.title} API`),
      el("p", { class: "lead" }, spec.info.summary),
      el("p", { class: "address" }, "Base URL: ", el("code", {}, location.origin + spec.servers[0].url)),
      markdown(spec.info.description)),
    ...areas.map(({ title, description, id, operations: areaOperations, render }) => el("section", { class: "area", id, "aria-labelledby": `${id}-title` },
      el("header", {}, el("h2", { id: `${id}-title` }, title), markdown(description)),
      areaOperations.map(render))));
  addListeners();
  markCurrentOperation();
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

fetch("openapi.json")
  .then((response) => {
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  })
  .then(renderPage)
  .catch((error) => {
    const loading = document.getElementById("loading");
    if (!loading) throw error;
    loading.textContent = `The OpenAPI document could not be loaded (${error.message}). Reload the page.`;
    loading.setAttribute("role", "alert");
  });
