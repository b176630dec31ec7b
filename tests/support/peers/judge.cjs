// Networks in the libraries' own code.
//     node judge.cjs LIBRARY < tasks > answers
// A line of the input is {document, inputs, sequence}: rows are steps from the reset state, or
// independent samples. A line of the output is {outputs} or {error}.
// NeatapticTS is its own code where NEATAPTIC_TS names a folder in which it is built, else its
// algorithm, written out.
'use strict';
const readline = require('node:readline');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const log = console.log;
console.log = console.warn = () => {};

const load = {
  neataptic: () => listOrder(require('neataptic').Network),
  carrot: () => listOrder(require('@liquid-carrot/carrot/src/index.js').Network),
  synaptic: () => synaptic(require('synaptic').Network),
  'brain.js': () => brain(require('brain.js').NeuralNetwork),
  'neataptic-ts': async () => {
    const folder = process.env.NEATAPTIC_TS;
    if (!folder) return require('./neataptic_ts.cjs').restore;
    return listOrder((await import(pathToFileURL(path.resolve(folder, 'dist', 'neataptic.js')))).Network);
  },
};

// Each entry makes, of a document, a player {reset, step}.
const listOrder = (Network) => (document) => {
  const network = Network.fromJSON(document);
  return { reset: () => network.clear(), step: (row) => network.activate(row) };
};

const synaptic = (Network) => (document) => {
  let network;
  const reset = () => {
    network = Network.fromJSON(document);
    network.setOptimize(false);
  };
  return { reset, step: (row) => network.activate(row) };
};

const brain = (NeuralNetwork) => (document) => {
  const network = new NeuralNetwork();
  network.fromJSON(document);
  const names = document.inputLookup ? Object.keys(document.layers[0]) : null;
  const given = (row) => (names ? Object.fromEntries(names.map((n, k) => [n, row[k]])) : row);
  return { reset: () => {}, step: (row) => Object.values(network.run(given(row))) };
};

function played(restore, { document, inputs, sequence }) {
  const player = restore(document);
  player.reset();
  return inputs.map((row) => {
    if (!sequence) player.reset();
    return player.step(row).map((value) => (Number.isFinite(value) ? value : String(value)));
  });
}

async function main() {
  const restore = await load[process.argv[2]]();
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = { outputs: played(restore, JSON.parse(line)) };
    } catch (error) {
      answer = { error: String(error) };
    }
    log(JSON.stringify(answer));
  }
}
main();
