// What is dropped or pasted is one file, or a sentence on why not.
import assert from "node:assert/strict";
import test from "node:test";
import { dropped, pasted } from "../../web/intake.js";

const file = (name) => ({ name });
const text = (content) => ({ items: [], files: [], getData: () => content });
const BATCH = 100; // entries that a browser gives at once
const folder = (name, names) => ({
  isDirectory: true,
  name,
  createReader: () => {
    const entries = names.map((each) => ({ isFile: true, file: (give) => give(file(each)) }));
    return { readEntries: (done) => done(entries.splice(0, BATCH)) };
  },
});
const ofFolder = (...args) => ({ items: [{ webkitGetAsEntry: () => folder(...args) }], files: [file(args[0])] });

test("one file is taken, whatever it is called", async () => {
  const { name, load, notice } = await dropped({ items: [], files: [file("cat.png")], getData: () => "" });
  assert.deepEqual([name, notice, await load()], ["cat.png", undefined, file("cat.png")]);
});

test("of several files the only one that fits is taken; three or more are a series, by their numbers", async () => {
  const of = (...names) => dropped({ items: [], files: names.map(file), getData: () => "" });
  assert.equal((await of("net.json", "notes.txt")).name, "net.json");
  const { series, configuration } = await of("neat-checkpoint-9", "neat-checkpoint-100", "neat-checkpoint-20", "config-x");
  assert.deepEqual(series.map(({ name }) => name), ["neat-checkpoint-9", "neat-checkpoint-20", "neat-checkpoint-100"]);
  assert.equal(configuration.name, "config-x");
});

test("a genome and its configuration are one", async () => {
  const of = (...names) => dropped({ items: [], files: names.map(file), getData: () => "" });
  for (const [genome, config] of [["winner.pkl", "config-feedforward"], ["winner", "config.ini"], ["best.pickle", "neat.cfg"]]) {
    for (const names of [[genome, config], [config, genome]]) {
      const { name, configuration, notice } = await of(...names);
      assert.deepEqual([name, configuration?.name, notice], [genome, config, undefined]);
    }
  }
  assert.equal((await of("config.json", "a.txt")).configuration, undefined);
  const folderful = await dropped(ofFolder("run", ["winner.pkl", "config-feedforward", "plot.svg", "log.txt"]));
  assert.deepEqual([folderful.name, folderful.configuration.name], ["winner.pkl", "config-feedforward"]);
});

test("two files are compared, pickles with the configuration of both", async () => {
  const of = (...names) => dropped({ items: [], files: names.map(file), getData: () => "" });
  const { name, other, notice } = await of("a.json", "b.onnx");
  assert.deepEqual([name, other.name, notice], ["a.json", "b.onnx", undefined]);
  const genomes = await of("a.pkl", "b.pkl", "config-feedforward");
  assert.deepEqual([genomes.configuration.name, genomes.other.configuration.name], ["config-feedforward", "config-feedforward"]);
});

test("a folder with one network is that network", async () => {
  assert.equal((await dropped(ofFolder("run-7", ["winner.json", "notes.txt"]))).name, "winner.json");
  assert.match((await dropped(ofFolder("run-7", ["notes.txt"]))).notice, /in the folder run-7/);
});

test("a folder is read to its end", async () => {
  const others = Array.from({ length: 250 }, (_, number) => `log-${number}.txt`);
  const { name, notice } = await dropped(ofFolder("run", [...others, "winner.json"]));
  assert.deepEqual([name, notice], ["winner.json", undefined]);
  assert.match((await dropped(ofFolder("empty", []))).notice, /no file of a network or a model/);
});

test("text is taken, an address and nothing are told kindly", async () => {
  assert.equal(pasted(text(' {"a": 1}')).name, "pasted.json");
  assert.equal((await dropped(text("[1]"))).name, "dropped.json");
  assert.equal(pasted(text("FANN_FLO_2.1\n")).name, "pasted.txt");
  assert.match(pasted(text("https://example.com/net.json")).notice, /an address/);
  assert.match(pasted(text("")).notice, /nothing in it/);
});
