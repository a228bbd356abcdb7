// Command generate writes smp's table of the built-in kinds, with all their types, from the Go structs of Kubernetes.
// It isn't part of module smp, so that these structs don't reach smp's users. Run `make generate`.
package main

import (
	"fmt"
	"os"
)

//go:generate go run .

// tableFile is where the table is, from this folder.
const tableFile = "../../../../smp/internal/schema/builtin/table.txt"

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	if err := everyGroup(); err != nil {
		return err
	}
	text, err := table()
	if err != nil {
		return err
	}
	return os.WriteFile(tableFile, []byte(text), 0o644)
}
