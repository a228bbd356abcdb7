package assets_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/full/assets"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// exampleRepository makes a repository with the version 1.2.0.
func exampleRepository(base string) (path string, err error) {
	path = filepath.Join(base, "source")
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(path, "text"), []byte("hello"), 0o644); err != nil {
		return "", err
	}
	for _, line := range []string{"init -q", "add text", "commit -q -m first", "tag v1.2.0"} {
		command := exec.Command("git", append([]string{"-C", path, "-c", "user.name=A", "-c", "user.email=a@example.com"}, strings.Fields(line)...)...)
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
		if err := command.Run(); err != nil {
			return "", err
		}
	}
	return path, nil
}

func Example() {
	ctx := context.Background()
	base, err := os.MkdirTemp("", "versions")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(base) }()
	repository, err := exampleRepository(base)
	if err != nil {
		fmt.Println(err)
		return
	}
	files, err := assets.Open(ctx, assets.Options{Repository: repository, Destination: filepath.Join(base, "out") + "/{version}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer files.Close()
	defer func() { _, _ = files.Prune(ctx, func(string) bool { return false }) }()
	numbers, err := files.Versions(ctx)
	fmt.Println(numbers, err)

	resource := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "shop"},
		"spec": map[string]any{"version": "1.2.0"},
	}}
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(resource))
	if err != nil {
		fmt.Println(err)
		return
	}
	reads := controller{widgets, func(_ context.Context, s *reconcile.Session) error {
		text, err := fs.ReadFile(s.Assets(), "text")
		fmt.Printf("%s says %q\n", s.Version(), text)
		return err
	}}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(reads, manager, reconcile.WithAssets(files))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = reconciler.Reconcile(ctx, request.Request{Key: deploy.Ref{Kind: widgets, Namespace: "shop", Name: "w"}})
	fmt.Println(err)
	// Output:
	// [1.2.0] <nil>
	// 1.2.0 says "hello"
	// <nil>
}
