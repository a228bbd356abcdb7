// Command hooks runs the examples of metacontroller against the program hooks of this repository: their files as they
// are, each with its own test.
//
//	go run . CHECKOUT [EXAMPLE...]
//
// It needs a cluster (KUBECONFIG), kubectl, python3 and node.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

var (
	//go:embed shim.py
	shimPython []byte
	//go:embed shim.js
	shimNode []byte
)

// patience is how long the test of an example may take.
const patience = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: hooks CHECKOUT [EXAMPLE...]")
		os.Exit(2)
	}
	failed, err := run(ctx, os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "hooks:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// run runs examples, all of them if none is named, and prints a line about each one.
func run(ctx context.Context, checkout string, names []string) (failed int, err error) {
	if checkout, err = filepath.Abs(checkout); err != nil {
		return 0, err
	}
	all, err := examples(checkout)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "hooks-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithCancel(ctx)
	var programs background
	defer programs.Wait()
	defer cancel()
	address, err := serve(ctx, &programs, dir, all)
	if err != nil {
		return 0, err
	}
	for _, file := range []string{"metacontroller-crds-v1.yaml", "metacontroller-namespace.yaml"} {
		if err := command(ctx, dir, "kubectl", "apply", "--server-side", "-f", filepath.Join(checkout, "manifests", "production", file)).Run(); err != nil {
			return 0, fmt.Errorf("kubectl apply %s: %w", file, err)
		}
	}
	program := command(ctx, "../../hooks", "go", "run", ".", "run", "--cluster-definitions", "--log.level", "warn")
	program.Env = append(os.Environ(), "HTTP_PROXY=http://"+address)
	if err := programs.start(program); err != nil {
		return 0, err
	}
	for _, one := range all {
		if len(names) > 0 && !slices.Contains(names, one.name) {
			continue
		}
		began := time.Now()
		output, err := test(ctx, filepath.Join(checkout, "examples", one.name))
		result := "passed"
		if err != nil {
			failed++
			result = fmt.Sprintf("FAILED: %v\n%s", err, output)
		}
		fmt.Printf("%-24s %-4s %5.1f s  %s\n", one.name, strings.TrimPrefix(filepath.Ext(one.hook), "."), time.Since(began).Seconds(), result)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		fmt.Printf("%-24s left out: %s\n", name, left[name])
	}
	return failed, nil
}

// serve runs the hooks of all examples, and the proxy by which they are found under the names in their definitions.
func serve(ctx context.Context, programs *background, dir string, all []example) (address string, err error) {
	python, node := filepath.Join(dir, "shim.py"), filepath.Join(dir, "shim.js")
	if err := errors.Join(os.WriteFile(python, shimPython, 0o600), os.WriteFile(node, shimNode, 0o600)); err != nil {
		return "", err
	}
	ports := map[string]string{}
	for _, one := range all {
		port, err := freePort()
		if err != nil {
			return "", err
		}
		hook := command(ctx, dir, "python3", python, port, one.hook)
		if filepath.Ext(one.hook) == ".js" {
			hook = command(ctx, dir, "node", node, port, one.hook)
		}
		hook.Stdout, hook.Stderr = nil, nil
		if err := programs.start(hook); err != nil {
			return "", fmt.Errorf("%s: %w", one.name, err)
		}
		for _, host := range one.hosts {
			ports[host] = port
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: proxy(ports), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the process ends
	return listener.Addr().String(), nil
}

// test runs the test of an example, as it is.
func test(ctx context.Context, dir string) (output string, err error) {
	limited, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("it has not ended within %s", patience))
	defer cancel()
	script := command(limited, dir, "bash", "./test.sh")
	var text bytes.Buffer
	script.Stdout, script.Stderr = &text, &text
	err = script.Run()
	if limited.Err() != nil {
		err = context.Cause(limited)
	}
	return text.String(), err
}

// background are programs that run until their context ends.
type background struct{ sync.WaitGroup }

func (b *background) start(command *exec.Cmd) error {
	if err := command.Start(); err != nil {
		return err
	}
	b.Go(func() { _ = command.Wait() }) // it ends by a signal
	return nil
}

// command returns a command in a folder whose process group ends with ctx.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, os.Stderr, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	return c
}

func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}
