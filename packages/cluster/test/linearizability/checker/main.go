// Checks a history of registers for linearizability with porcupine: an independent checker, which knows nothing of Troupe. It reads one operation per line as
// JSON, and prints what it found for each register that is not linearizable.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Client int    `json:"client"`
	ID     string `json:"id"`
	Op     string `json:"op"` // read, write or swap
	// What is written; for swap also what has to be there.
	Value  int64 `json:"value"`
	Before int64 `json:"before"`
	// What was answered: the value of a read, 1 or 0 for a swap.
	Answer int64 `json:"answer"`
	// False if nothing is known of the outcome: it may have been done at any time after its call, or never.
	Known  bool  `json:"known"`
	Call   int64 `json:"call"`
	Return int64 `json:"return"`
}

var register = porcupine.Model{
	Init: func() interface{} { return int64(0) },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		was, op := state.(int64), input.(operation)
		switch op.Op {
		case "read":
			return op.Answer == was, was
		case "write":
			return true, op.Value
		default:
			if was == op.Before {
				return !op.Known || op.Answer == 1, op.Value
			}
			return !op.Known || op.Answer == 0, was
		}
	},
	DescribeOperation: func(input, output interface{}) string { return fmt.Sprintf("%+v", input) },
}

func main() {
	byID := map[string][]porcupine.Operation{}
	count := 0
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(make([]byte, 1<<20), 1<<20)
	for scanner.Scan() {
		var op operation
		if err := json.Unmarshal(scanner.Bytes(), &op); err != nil {
			fmt.Fprintf(os.Stderr, "a line is not an operation: %v\n", err)
			os.Exit(2)
		}
		byID[op.ID] = append(byID[op.ID], porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Output: op, Return: op.Return})
		count++
	}
	ids := make([]string, 0, len(byID))
	for id := range byID {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	bad := 0
	for _, id := range ids {
		switch porcupine.CheckOperationsTimeout(register, byID[id], 2*time.Minute) {
		case porcupine.Illegal:
			bad++
			fmt.Printf("%s is not linearizable (%d operations)\n", id, len(byID[id]))
		case porcupine.Unknown:
			bad++
			fmt.Printf("%s could not be decided within two minutes (%d operations)\n", id, len(byID[id]))
		}
	}
	fmt.Printf("%d operations on %d registers checked, %d registers not linearizable\n", count, len(ids), bad)
	if bad > 0 {
		os.Exit(1)
	}
}
