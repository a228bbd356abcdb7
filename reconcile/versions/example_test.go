package versions_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/versions"
)

// releases makes a folder with two releases of the operator of labs, as an image carries them. This very program is what they are.
func releases() (versions.Options, func()) {
	directory, err := os.MkdirTemp("", "versions")
	if err != nil {
		panic(err)
	}
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"1.0.0", "1.1.0"} {
		if err := os.Mkdir(filepath.Join(directory, name), 0o755); err != nil {
			panic(err)
		}
		if err := os.Symlink(self, filepath.Join(directory, name, "lab")); err != nil {
			panic(err)
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	environment := append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return versions.Options{Directory: directory, Entry: "lab", Logger: quiet, Environment: environment}, func() { _ = os.RemoveAll(directory) }
}

// Two resources, each rendered by the version that it wants, and deployed by one manager.
func Example() {
	options, remove := releases()
	defer remove()
	ctx := context.Background()
	pool, err := versions.Start(ctx, options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()

	memory, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, version := range map[string]string{"old": "1.0.0", "new": "1.1.0"} {
		resource := lab(name, map[string]any{"version": version})
		resource.SetNamespace("test")
		if _, err := memory.Port().Create(ctx, resource, deploy.CreateOptions{}); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, controller := range pool.Controllers() {
		manager, err := deploy.NewManager(memory)
		if err != nil {
			fmt.Println(err)
			return
		}
		reconciler, err := reconcile.New(controller, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, name := range []string{"old", "new"} {
			if _, err := reconciler.Reconcile(ctx, request.Request{Key: deploy.Ref{Kind: labs, Namespace: "test", Name: name}}); err != nil {
				fmt.Println(err)
				return
			}
			note, err := memory.View().Get(ctx, deploy.Ref{Kind: configMaps, Namespace: "test", Name: name + "-note"})
			fmt.Println(name, note.Object["data"], err)
		}
	}
	// Output:
	// old map[version:1.0.0] <nil>
	// new map[version:1.1.0] <nil>
}

func ExampleStart() {
	options, remove := releases()
	defer remove()
	pool, err := versions.Start(context.Background(), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	fmt.Println(pool.Versions())
	for _, controller := range pool.Controllers() {
		fmt.Println(controller.Kind().Kind)
	}
	_, err = versions.Start(context.Background(), versions.Options{Directory: ".", Entry: "../lab"})
	fmt.Println(err)
	// Output:
	// [1.0.0 1.1.0]
	// Lab
	// versions: entry "../lab": must be a path below the folder of each version
}

func ExamplePool_Report() {
	options, remove := releases()
	defer remove()
	pool, err := versions.Start(context.Background(), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, report := range pool.Report() {
		fmt.Println(report.Version, "running:", report.Running, "starts:", report.Starts, "in use:", report.InUse)
	}
	pool.Close()
	fmt.Println(pool.Report()[0].Running)
	// Output:
	// 1.0.0 running: true starts: 1 in use: 0
	// 1.1.0 running: true starts: 1 in use: 0
	// false
}
