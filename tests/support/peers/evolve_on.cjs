// Networks that neataptic or carrot evolves on, by its own mutation and crossover.
//     node evolve_on.cjs neataptic|carrot GENERATIONS < tasks > answers
// A line of the input is {document, inputs}: rows are steps from the reset state. A line of the
// output has what the first champion computes, and the fitness of each generation's best; or error.
'use strict';
const readline = require('node:readline');
const log = console.log;
console.log = console.warn = () => {};

let state = 1;
Math.random = () => {
  state = (state * 48271) % 2147483647;
  return state / 2147483647;
};

const SIZE = 12;
const PACKAGES = { neataptic: 'neataptic', carrot: '@liquid-carrot/carrot/src/index.js' };

const played = (network, inputs) => {
  network.clear();
  return inputs.map((row) => network.activate(row));
};

// A population of copies of a document.
function seeded({ Neat, methods }, library, document, fitness) {
  const common = { elitism: 2, mutation: methods.mutation.ALL };
  const copies = Array(SIZE).fill(document);
  if (library === 'carrot') {
    const own = { ...common, population_size: SIZE, mutation_rate: 0.6, fitness: (set, genome) => fitness(genome) };
    const neat = new Neat(document.input_size, document.output_size, [{}], own);
    neat.fromJSON(copies);
    return neat;
  }
  const own = { ...common, popsize: SIZE, mutationRate: 0.6 };
  const neat = new Neat(document.input, document.output, fitness, own);
  neat.import(copies);
  return neat;
}

async function evolved(code, library, { document, inputs }, generations) {
  const error = (genome) =>
    played(genome, inputs).flat().reduce((sum, value) => sum - Math.abs(value - 0.25), 0);
  const fitness = (genome) => (Number.isFinite(error(genome)) ? error(genome) : -1e9);
  const neat = seeded(code, library, document, fitness);
  await neat.evaluate();
  neat.sort();
  const champion = played(neat.population[0], inputs);
  const best = [];
  for (let generation = 0; generation < generations; generation++) {
    const found = await neat.evolve(); // the fittest, or with carrot the population, it first
    best.push((found.score === undefined ? found[0] : found).score);
  }
  return { champion, best };
}

async function main() {
  const [library, generations] = process.argv.slice(2);
  const code = require(PACKAGES[library]);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let answer;
    try {
      answer = await evolved(code, library, JSON.parse(line), Number(generations));
    } catch (error) {
      answer = { error: String(error.stack) };
    }
    log(JSON.stringify(answer));
  }
}
main();
