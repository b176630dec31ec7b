// Genomes in goNEAT's own code.
//
//	go run goneat_judge.go < tasks > answers     (in a folder of goNEAT's repository)
//
// A line of the input is {document, inputs, sequence}: rows are steps from the reset state, or
// independent samples; a network makes as many forward steps for each as it has nodes. A line of
// the output is {outputs} or {error}; numbers that are not finite are texts.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/yaricom/goNEAT/v4/neat/genetics"
)

type task struct {
	Document string      `json:"document"`
	Inputs   [][]float64 `json:"inputs"`
	Sequence bool        `json:"sequence"`
}

func played(task task) ([][]any, error) {
	reader, err := genetics.NewGenomeReader(strings.NewReader(task.Document), genetics.PlainGenomeEncoding)
	if err != nil {
		return nil, err
	}
	genome, err := reader.Read()
	if err != nil {
		return nil, err
	}
	net, err := genome.Genesis(genome.Id)
	if err != nil {
		return nil, err
	}
	outputs := [][]any{}
	for _, row := range task.Inputs {
		if !task.Sequence {
			if _, err := net.Flush(); err != nil {
				return nil, err
			}
		}
		if err := net.LoadSensors(row); err != nil {
			return nil, err
		}
		if _, err := net.ForwardSteps(net.NodeCount()); err != nil {
			return nil, err
		}
		values := []any{}
		for _, value := range net.ReadOutputs() {
			values = append(values, finite(value))
		}
		outputs = append(outputs, values)
	}
	return outputs, nil
}

func finite(value float64) any {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return strings.ReplaceAll(fmt.Sprint(value), "Inf", "Infinity")
	}
	return value
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var given task
		answer := map[string]any{}
		if err := json.Unmarshal(line, &given); err != nil {
			answer["error"] = err.Error()
		} else if outputs, err := played(given); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["outputs"] = outputs
		}
		if err := answers.Encode(answer); err != nil {
			return
		}
	}
}
