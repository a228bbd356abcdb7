package main

import (
	"context"
	_ "embed" // go.mod
	"os"
	"os/signal"
	"syscall"

	"github.com/operkit/operkit/tools/operkit/internal/command"
)

// requirements is the go.mod of this program: what it requires new operators require too, in the same versions.
//
//go:embed go.mod
var requirements []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends it at once
	os.Exit(command.Execute(ctx, requirements, os.Args[1:], os.Stdout, os.Stderr))
}
