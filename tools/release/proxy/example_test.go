package proxy_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/release/proxy"
)

func Example() {
	ctx := context.Background()
	root, consumer := makeRepository(), makeConsumer() // a git repository with a module, and a module that wants it
	defer os.RemoveAll(filepath.Dir(root))
	defer os.RemoveAll(filepath.Dir(consumer))

	dir := filepath.Join(filepath.Dir(consumer), "proxy")
	versions, err := proxy.Fill(ctx, root, dir, proxy.Versions(map[string]string{"example.com/shop/greet": "v0.3.0"}))
	if err != nil {
		log.Fatal(err)
	}
	env, err := proxy.Environ(ctx, dir)
	if err != nil {
		log.Fatal(err)
	}
	get := exec.Command("go", "get", "example.com/shop/greet@"+versions["example.com/shop/greet"])
	get.Dir = consumer
	get.Env = append(env, "GOMODCACHE="+filepath.Join(filepath.Dir(consumer), "cache"), "GOFLAGS=-modcacherw")
	out, err := get.CombinedOutput()
	if err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	fmt.Println(lastLine(string(out)))
	// Output:
	// go: added example.com/shop/greet v0.3.0
}

func ExampleFill() {
	root := makeRepository()
	defer os.RemoveAll(filepath.Dir(root))
	dir := filepath.Join(filepath.Dir(root), "proxy")
	versions, err := proxy.Fill(context.Background(), root, dir)
	fmt.Println(len(versions), err)
	// A version that nobody takes for a release: the time of the last commit and the contents.
	fmt.Println(strings.HasPrefix(versions["example.com/shop/greet"], "v0.0.0-"))

	options := []proxy.Option{proxy.Versions(map[string]string{"example.com/shop/greet": "1.0"})}
	_, err = proxy.Fill(context.Background(), root, dir, options...)
	fmt.Println(err)
	// Output:
	// 1 <nil>
	// true
	// version "1.0" of example.com/shop/greet: want a version like v0.1.0
}

func ExampleEnviron() {
	root := makeRepository()
	defer os.RemoveAll(filepath.Dir(root))
	dir := filepath.Join(filepath.Dir(root), "proxy")
	_, err := proxy.Environ(context.Background(), filepath.Dir(root))
	fmt.Println(strings.TrimPrefix(err.Error(), "proxy "+filepath.Dir(root)))

	if _, err := proxy.Fill(context.Background(), root, dir); err != nil {
		log.Fatal(err)
	}
	env, err := proxy.Environ(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range env {
		if value, is := strings.CutPrefix(entry, "GOPROXY="); is {
			fmt.Println(strings.HasPrefix(value, "file://"+dir+","))
		}
	}
	// Output:
	// : it has no module: fill it first
	// true
}

// makeRepository makes one with the released module example.com/shop/greet.
func makeRepository() string {
	root := filepath.Join(temporary(), "shop")
	write(filepath.Join(root, "greet", "go.mod"), "module example.com/shop/greet\n\ngo 1.26.0\n")
	write(filepath.Join(root, "greet", "greet.go"), "package greet\n")
	write(filepath.Join(root, "greet", "CHANGELOG.md"), "# Changelog\n\n## Unreleased\n")
	if out, err := exec.Command("git", "init", "--quiet", root).CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, out)
	}
	return root
}

// makeConsumer makes a module that requires nothing yet.
func makeConsumer() string {
	folder := filepath.Join(temporary(), "consumer")
	write(filepath.Join(folder, "go.mod"), "module example.com/consumer\n\ngo 1.26.0\n")
	return folder
}

func temporary() string {
	folder, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	return folder
}

func write(name, text string) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		log.Fatal(err)
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
