package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// versionCommand is the command with which this program runs as a version of the shop's operator.
const versionCommand = "serve-version"

// serveAsVersion serves as a version and ends the program, if the program was started with versionCommand.
func serveAsVersion() {
	if len(os.Args) != 2 || os.Args[1] != versionCommand {
		return
	}
	if err := child.Serve(context.Background(), "", []reconcile.Controller{shop{10, 10}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// versionPairs are the goals of versions of an operator, side by side.
func versionPairs() []ratio.Pair {
	return []ratio.Pair{{
		Name: "versions-overhead", Goal: 2, Ours: sameByChild, Peer: same(10, 10),
		Hint: "what is done for each object that another process has rendered: reconcile/versions/component.go, child/render.go and internal/wire",
	}}
}

// sameByChild measures reconciles of a resource that needs no change and that a version in a separate process renders.
func sameByChild(b *testing.B) {
	self, err := os.Executable()
	must(b, err)
	directory := b.TempDir()
	must(b, os.Mkdir(filepath.Join(directory, "1.0.0"), 0o755))
	must(b, os.Symlink(self, filepath.Join(directory, "1.0.0", "shop")))
	quiet := slog.New(slog.DiscardHandler)
	pool, err := versions.Start(b.Context(), versions.Options{Directory: directory, Entry: "shop", Logger: quiet})
	must(b, err)
	defer pool.Close()
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource()))
	must(b, err)
	manager, err := deploy.NewManager(memory)
	must(b, err)
	reconciler, err := reconcile.New(pool.Controllers()[0], manager, reconcile.Logger(quiet), reconcile.VersionOverride("1.0.0"))
	must(b, err)
	o := operator{reconciler, memory}
	must(b, o.settle(b.Context()))
	for b.Loop() {
		must(b, o.reconcile(b.Context()))
	}
}
