// Command generate writes the schemas with which deploy/dryrun merges, compares and checks the kinds of Kubernetes. It
// reads them from the type converters and the types of the Kubernetes client libraries, the allowed values of fields and
// the scopes of kinds from the markers in the sources of these types, and the short names of kinds from the API server's
// discovery documents. It isn't part of module deploy, so that these libraries, with every type of Kubernetes, don't
// reach operators. Run `make generate`.
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
