// Command patch applies patches to Kubernetes manifests in files, and computes the patch between two manifests, without
// a cluster. It supports strategic merge patches as the API server applies them, JSON patches (RFC 6902) and merge
// patches (RFC 7386). It is an example of the module smp and uses no other module of operkit.
package main

import (
	"fmt"
	"os"
)

func main() {
	command := newCommand()
	if err := command.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "patch:", err)
		os.Exit(1)
	}
}
