// Cuts an OpenAPI description down to the paths that the GitHub client uses, and what they refer to.
// Prism starts with it in a second; with all of GitHub it takes many.
import { readFileSync, writeFileSync } from "node:fs";

const USED = /^\/repos\/\{owner\}\/\{repo\}\/(issues|pulls)(\/\{(issue|pull)_number\}(\/merge)?)?$/;

const [from, to] = process.argv.slice(2);
const whole = JSON.parse(readFileSync(from, "utf8"));
const paths = Object.fromEntries(Object.entries(whole.paths).filter(([path]) => USED.test(path)));
const components = {};

function collect(value) {
  if (Array.isArray(value)) return value.forEach(collect);
  if (value === null || typeof value !== "object") return;
  if (typeof value.$ref === "string") {
    const [, , kind, name] = value.$ref.split("/");
    components[kind] ??= {};
    if (!(name in components[kind])) {
      components[kind][name] = whole.components[kind][name];
      collect(components[kind][name]);
    }
  }
  Object.values(value).forEach(collect);
}

collect(paths);
const operations = Object.values(paths).flatMap(Object.values);
const responses = operations.flatMap((operation) => Object.values(operation.responses));
for (const { content } of [...responses, ...Object.values(components.responses)]) {
  const json = content?.["application/json"];
  if (!json) continue;
  // An example whose value refers to another example means that one.
  for (const [name, { value }] of Object.entries(json.examples ?? {})) {
    if (value?.$ref) json.examples[name] = value;
  }
  // GitHub asks clients to accept this type, and describes its answers by the general one.
  content["application/vnd.github+json"] = json;
}
const { openapi, info, servers } = whole;
writeFileSync(to, JSON.stringify({ openapi, info, servers, paths, components }));
