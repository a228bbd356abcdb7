// Command examples generates what is generated in this repository from Go types: deep
// copies of API types, and the CustomResourceDefinitions of temporary patches, the examples and the benchmark. It is a module of
// its own so that the generator's requirements reach nobody else. Run `make generate`.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:generate go run .

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func generate() error {
	tool, err := output(".", "go", "tool", "-n", "controller-gen")
	if err != nil {
		return err
	}
	root, err := output(".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if err := run(filepath.Join(root, "status"), tool, "object", "paths=."); err != nil {
		return err
	}
	patches := filepath.Join(root, "reconcile", "temporarypatch")
	if err := run(patches, tool, "object", "crd", "paths=.", "output:crd:dir=."); err != nil {
		return err
	}
	versions, err := filepath.Glob(filepath.Join(root, "examples", "*", "api", "v*"))
	if err != nil {
		return err
	}
	versions = append(versions, filepath.Join(root, "tools", "bench", "api", "v1"))
	for _, version := range versions {
		if err := run(version, tool, "object", "crd", "paths=.", "output:crd:dir=../../config/crd"); err != nil {
			return err
		}
	}
	return nil
}

func output(dir, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stderr = os.Stderr
	content, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(content)), nil
}

func run(dir, name string, args ...string) error {
	command := exec.Command(name, args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("in %s: %s %s: %w", dir, filepath.Base(name), strings.Join(args, " "), err)
	}
	return nil
}
