// Networks that neataptic evolves on, by its own mutation and crossover.
//     node evolve_on.cjs GENERATIONS < tasks > answers
// A line of the input is {document, inputs}: rows are steps from the reset state. A line of the
// output has what the first champion computes, and the fitness of each generation's best; or error.
'use strict';
const readline = require('node:readline');
const { Neat, Network, methods } = require('neataptic');
const log = console.log;
console.log = console.warn = () => {};

let state = 1;
Math.random = () => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};

const played = (network, inputs) => {
  network.clear();
  return inputs.map((row) => network.activate(row));
};

async function evolved({ document, inputs }, generations) {
  const network = Network.fromJSON(document);
  const error = (genome) =>
    played(genome, inputs).flat().reduce((sum, value) => sum - Math.abs(value - 0.25), 0);
  const fitness = (genome) => (Number.isFinite(error(genome)) ? error(genome) : -1e9);
  const neat = new Neat(network.input, network.output, fitness, {
    popsize: 12,
    elitism: 2,
    network,
    mutation: methods.mutation.ALL,
    mutationRate: 0.6,
  });
  await neat.evaluate();
  neat.sort();
  const champion = played(neat.population[0], inputs);
  const best = [];
  for (let generation = 0; generation < generations; generation++) {
    best.push((await neat.evolve()).score);
  }
  return { champion, best };
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = await evolved(JSON.parse(line), Number(process.argv[2]));
    } catch (error) {
      answer = { error: String(error.stack) };
    }
    log(JSON.stringify(answer));
  }
}
main();
