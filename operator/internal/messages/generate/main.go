// Command generate writes the page of messages into the file that its argument names. Run `make generate`.
package main

import (
	"fmt"
	"os"

	"github.com/operkit/operkit/operator/internal/messages"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "generate: name the file of the page")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(messages.Page()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
