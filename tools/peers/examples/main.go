// Command examples runs the generators for Go types in this repository. It writes deep copies of API types, the
// CustomResourceDefinitions of temporary patches, the examples and the benchmark, and the schema of the status for
// definitions that tools/operkit writes. It is a separate module, so that the generator's requirements reach no other
// module. Run `make generate`.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
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
	if err := copyPatches(patches, filepath.Join(root, "examples")); err != nil {
		return err
	}
	apis, err := filepath.Glob(filepath.Join(root, "examples", "*", "api"))
	if err != nil {
		return err
	}
	apis = append(apis, filepath.Join(root, "tools", "bench", "api"))
	for _, api := range apis {
		// All versions at once, since a kind has one definition for all of them.
		if err := run(api, tool, "object", "crd", "paths=./...", "output:crd:dir=../config/crd"); err != nil {
			return err
		}
	}
	if err := addRules(root); err != nil {
		return err
	}
	return statusSchema(root)
}

// addRules runs the generators of examples, which add rules to the definitions that controller-gen has written.
func addRules(root string) error {
	generators, err := filepath.Glob(filepath.Join(root, "examples", "*", "generate"))
	if err != nil {
		return err
	}
	for _, generator := range generators {
		if err := run(filepath.Dir(generator), "go", "run", "./generate"); err != nil {
			return err
		}
	}
	return nil
}

// statusSchema copies the schema of the status from an example's definition to tools/operkit, which writes definitions
// for new projects.
func statusSchema(root string) error {
	example := filepath.Join(root, "examples", "memcached", "config", "crd", "examples.operkit.dev_memcacheds.yaml")
	text, err := os.ReadFile(example)
	if err != nil {
		return err
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema struct {
						Properties struct {
							Status map[string]any `json:"status"`
						} `json:"properties"`
					} `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return fmt.Errorf("%s: %w", example, err)
	}
	if len(definition.Spec.Versions) != 1 {
		return fmt.Errorf("%s: has %d versions, not one", example, len(definition.Spec.Versions))
	}
	schema, err := yaml.Marshal(definition.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties.Status)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, "tools", "operkit", "internal", "project", "status.yaml"), schema, 0o644)
}

// copyPatches copies the definition of TemporaryPatch to two examples: unchanged to one of them, and with oper8's group
// to the other.
func copyPatches(from, examples string) error {
	const group = "operkit.dev"
	definition, err := os.ReadFile(filepath.Join(from, group+"_temporarypatches.yaml"))
	if err != nil {
		return err
	}
	for example, own := range map[string]string{"patched": group, "from-oper8": "oper8.org"} {
		path := filepath.Join(examples, example, "config", "crd", own+"_temporarypatches.yaml")
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(definition), group, own)), 0o644); err != nil {
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
