// Validates JSON documents against a JSON Schema with ajv, in its strict mode.
// Usage: node check_schema.mjs SCHEMA DOCUMENT...
// One line a document, "valid" or "wrong: " with the number of errors and the first; exit 0 if all are valid, 1 if not, 2 on bad usage.
import { readFileSync } from "node:fs";
import Ajv2020 from "ajv/dist/2020.js";

const [schemaPath, ...documents] = process.argv.slice(2);
if (!schemaPath || documents.length === 0) {
  console.error("usage: node check_schema.mjs SCHEMA DOCUMENT...");
  process.exit(2);
}
const read = (path) => JSON.parse(readFileSync(path, "utf8"));
// compiled without optimizing: that takes longer than all documents
const ajv = new Ajv2020({ strict: true, inlineRefs: false, code: { optimize: false } });
const validate = ajv.compile(read(schemaPath));
let wrong = 0;
for (const path of documents) {
  if (validate(read(path))) {
    console.log("valid");
  } else {
    wrong += 1;
    const [{ instancePath, message, params }] = validate.errors;
    const what = params.allowedValues ?? params.allowedValue ?? params.additionalProperty ?? "";
    console.log(`wrong: ${validate.errors.length} ${instancePath} ${message} ${what}`);
  }
}
process.exitCode = wrong ? 1 : 0;
