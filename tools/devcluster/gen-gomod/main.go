// Command gen-gomod updates devcluster's go.mod and build.env from Kubernetes' own go.mod.
//
// Kubernetes requires its staging modules at v0.0.0 and replaces them by folders of its repository; a module that
// requires k8s.io/kubernetes has to replace them by the published versions instead. Run it in the folder of
// devcluster's go.mod ('go generate' does), and 'go mod tidy' after it. With -version it changes the version of
// Kubernetes first. With -check it writes nothing, and fails if something is out of date.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

const (
	kubernetes = "k8s.io/kubernetes"
	buildEnv   = "build.env"
)

func main() {
	version := flag.String("version", "", "version of k8s.io/kubernetes (default: the one in go.mod)")
	check := flag.Bool("check", false, "fail when go.mod or build.env is out of date, and write nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen-gomod:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version string, check bool) error {
	own, err := readModule(ctx, "go.mod")
	if err != nil {
		return err
	}
	if version == "" {
		if version, err = own.required(kubernetes); err != nil {
			return err
		}
	}
	upstream, err := download(ctx, kubernetes, version)
	if err != nil {
		return err
	}
	edits, err := plan(own, upstream, version)
	if err != nil {
		return err
	}
	environment, err := environment(version)
	if err != nil {
		return err
	}
	if check {
		return verify(edits, environment)
	}
	if err := os.WriteFile(buildEnv, []byte(environment), 0o644); err != nil {
		return err
	}
	return edit(ctx, edits)
}

// verify returns an error if something is out of date.
func verify(edits []string, environment string) error {
	if len(edits) > 0 {
		return fmt.Errorf("go.mod is out of date: run 'go generate' and 'go mod tidy' (it would edit %s)", strings.Join(edits, " "))
	}
	current, err := os.ReadFile(buildEnv)
	if err != nil {
		return err
	}
	if string(current) != environment {
		return fmt.Errorf("%s is out of date: run 'go generate'", buildEnv)
	}
	return nil
}
