// Networks in an address: deflated, base64url, after the #, which no browser sends anywhere.
import { factsOfSample, fileOfSample, loadSample } from "./samples.js";

const MOST = 32_000; // characters that browsers and chats still carry
const LARGE = 400_000; // bytes; not worth trying

const pipe = (bytes, transform) => new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer();

async function packed(bytes) {
  const deflated = new Uint8Array(await pipe(bytes, new CompressionStream("deflate-raw")));
  let text = "";
  for (let at = 0; at < deflated.length; at += 8192) text += String.fromCharCode(...deflated.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function unpacked(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return pipe(Uint8Array.from(plain, (letter) => letter.charCodeAt(0)), new DecompressionStream("deflate-raw"));
}

/** Put a file into an address: its content under `key`, its name under `keyName`. False if it is too large. */
async function put(parts, key, keyName, { name, load }) {
  const file = await load();
  if (file.size > LARGE) return false;
  parts.set(keyName, name);
  parts.set(key, await packed(await file.arrayBuffer()));
  return true;
}

/**
 * The part of an address after # that brings a conversion back; null if it would be too long.
 * @param made {name, load, sample, configuration, other, genome, settings, facts, importOptions, edits}
 */
export async function linkTo({ sample, configuration, other, genome, settings, facts, importOptions, edits, ...network }) {
  const parts = new URLSearchParams();
  if (sample) parts.set("sample", sample);
  else if (!await put(parts, "net", "name", network)) return null;
  const besides = { config: configuration, other, "other-config": other?.configuration };
  for (const [key, file] of Object.entries(besides)) {
    if (file && !await put(parts, key, `${key}-name`, file)) return null;
  }
  if (genome !== null) parts.set("genome", genome);
  if (Object.keys(settings).length) parts.set("options", JSON.stringify(settings));
  if (facts) parts.set("facts", JSON.stringify(facts));
  if (Object.keys(importOptions).length) parts.set("import", JSON.stringify(importOptions));
  if (edits.length) parts.set("edits", JSON.stringify(edits));
  const link = `#${parts}`;
  return link.length > MOST ? null : link;
}

/** What a link asks for, in the form that `linkTo` takes; null if it asks for nothing. */
export function linked(hash) {
  const parts = new URLSearchParams(hash.slice(1));
  const sample = parts.get("sample");
  const packedNetwork = parts.get("net");
  if (!sample && !packedNetwork) return null;
  const name = sample ? fileOfSample(sample) : parts.get("name") ?? "linked.json";
  const load = sample ? () => loadSample(sample) : () => fileOf(name, packedNetwork);
  const other = besides(parts, "other");
  if (other) other.configuration = besides(parts, "other-config");
  const files = { configuration: besides(parts, "config"), other };
  const settings = json(parts.get("options")) ?? {};
  return { name, load, sample, ...files, genome: integer(parts.get("genome")), settings, facts: json(parts.get("facts")) ?? factsOfSample(sample), importOptions: json(parts.get("import")) ?? {}, edits: listed(parts.get("edits")) };
}

/** A file beside the network: {name, load}; null if the address has none. */
function besides(parts, key) {
  const [name, text] = [parts.get(`${key}-name`) ?? key, parts.get(key)];
  return text === null ? null : { name, load: () => fileOf(name, text) };
}

const listed = (text) => (Array.isArray(json(text)) ? json(text) : []);
const integer = (text) => (/^-?\d{1,9}$/.test(text ?? "") ? Number(text) : null);

async function fileOf(name, text) {
  try {
    return new File([await unpacked(text)], name);
  } catch {
    throw { kind: "DocumentError", message: "this link is damaged", hint: "Copy it again, the whole of it" };
  }
}

function json(text) {
  try {
    const value = JSON.parse(text ?? "null");
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
