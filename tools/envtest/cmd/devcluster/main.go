package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr, become); err != nil {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
		os.Exit(1)
	}
}

// run finds or builds the program, and then prints its path or calls become. An interrupt ends a build.
func run(args []string, stdout, stderr io.Writer, become func(binary string, args []string) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	only := len(args) > 0 && args[0] == "build"
	if only && len(args) > 1 {
		return fmt.Errorf("build takes no arguments, got %q", args[1:])
	}
	binary, err := devcluster.Binary(ctx, stderr)
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	if err != nil {
		return err
	}
	if only {
		_, err := fmt.Fprintln(stdout, binary)
		return err
	}
	stop() // from here on the devcluster program handles signals
	return become(binary, args)
}
