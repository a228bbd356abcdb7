// Command operator is an operator on its way from controller-runtime to operkit, in the releases that such a move has:
//
//	operator both NAMESPACE      Memcacheds are a Reconciler's still, Hellos are operkit's: two engines in one process, under one Lease
//	operator behind NAMESPACE    the Reconciler is called by operkit's engine: controller-runtime's manager is gone
//	operator moved run           Memcacheds are operkit's, with what the Reconciler had made of them
//
// It is a module of its own, so that controller-runtime reaches nobody else.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "operator:", err)
		os.Exit(1) // everything must end when the leadership is lost
	}
}

// run is the release that the first argument names.
func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "both":
		return both(ctx, args[1])
	case len(args) == 2 && args[0] == "behind":
		return behind(ctx, args[1])
	case len(args) > 1 && args[0] == "moved":
		return moved(ctx, args[1:])
	}
	return fmt.Errorf("%q: use both NAMESPACE, behind NAMESPACE or moved COMMAND", args)
}
