// Command generate writes the schemas by which deploy/dryrun merges and compares the kinds of Kubernetes, from the type
// converters and the types of the Kubernetes client libraries. It is a module apart from deploy so that these, and with
// them every type of Kubernetes, reach no operator. Run `make generate`.
package main

import (
	"fmt"
	"os"
)

//go:generate go run .

// schemaFile is where the schemas are, from this folder.
const schemaFile = "../../../../deploy/dryrun/builtin.txt"

func main() {
	text, err := generate()
	if err == nil {
		err = os.WriteFile(schemaFile, text, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
