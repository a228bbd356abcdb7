// Command setup-vcs makes a git repository of single versions out of one with a history: one commit for each kept tag
// or branch, with the same files, and nothing else of the source. See README.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/operkit/operkit/vcs/setupcommand"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends it at once
	os.Exit(setupcommand.Execute(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
