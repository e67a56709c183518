// Command citally reads the output of `go test -json`, from one run or several
// after another, and prints what a person wants of it: the packages, all that a
// failing test said, why tests were skipped, and last a line of its own,
//
//	N passed, N failed, N skipped
//
// It exits with 1 when anything failed or nothing passed.
package main

import (
	"fmt"
	"os"
)

func main() {
	t := newTally(os.Stdout)
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "citally:", err)
		os.Exit(1)
	}
	if !t.close() {
		os.Exit(1)
	}
}
