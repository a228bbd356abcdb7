package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/component-base/version"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/command"
)

func main() { os.Exit(run(os.Args)) }

// run runs the program with these arguments. The first one is the name by which it was called.
func run(arguments []string) int {
	called := filepath.Base(arguments[0])
	if start, ok := components[called]; ok {
		return runComponent(start, slices.Concat([]string{called}, arguments[1:]))
	}
	if len(arguments) > 1 {
		if start, ok := components[arguments[1]]; ok {
			return runComponent(start, arguments[1:])
		}
	}
	arguments = arguments[1:]
	if called == "kubectl" {
		arguments = slices.Concat([]string{called}, arguments)
	}
	// The Kubernetes packages have registered flags of their own here, such as --version, which cobra
	// would give to every command.
	pflag.CommandLine = pflag.NewFlagSet(called, pflag.ExitOnError)
	return command.Execute(context.Background(), command.Program{
		Version:    version.Get().GitVersion,
		Versions:   versions(),
		KwokConfig: kwokConfig(),
		Kubectl:    kubectl,
		CheckGates: checkGates,
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
	}, arguments)
}

// runComponent runs the program as one component. All components read their arguments from os.Args.
func runComponent(start func() int, arguments []string) int {
	if err := cluster.FollowSupervisor(); err != nil {
		fmt.Fprintln(os.Stderr, "devcluster:", err)
		return 1
	}
	os.Args = arguments
	return start()
}
