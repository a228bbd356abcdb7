package main

import (
	"context"
	_ "embed" // go.mod
	"os"
	"os/signal"
	"syscall"

	"github.com/operkit/operkit/tools/operkit/internal/command"
)

// requirements is the go.mod of this program. New operators require the same versions as this program.
//
//go:embed go.mod
var requirements []byte

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal ends the process at once
	os.Exit(command.Execute(ctx, requirements, os.Args[1:], os.Stdout, os.Stderr))
}
