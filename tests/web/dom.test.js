// Texts as the page shows them.
import assert from "node:assert/strict";
import test from "node:test";
import { sentence } from "../../web/views/dom.js";

test("a text is a sentence, but a name in it stays as it is written", () => {
  assert.equal(sentence("the file is empty"), "The file is empty.");
  assert.equal(sentence("is it cut off?"), "Is it cut off?");
  assert.equal(sentence("network_type is not a string"), "network_type is not a string.");
  assert.equal(sentence("formatVersion is missing"), "formatVersion is missing.");
  assert.equal(sentence("nodes[3].bias is missing"), "nodes[3].bias is missing.");
  assert.equal(sentence("node 3 (input_step) is missing"), "Node 3 (input_step) is missing.");
});
