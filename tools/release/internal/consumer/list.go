package consumer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// list finds the module's packages. It is an error when it has none.
func (v *visit) list(ctx context.Context, folder, pattern string) error {
	out, err := v.run(ctx, folder, "list", "-json=ImportPath,Name,Dir,GoFiles,Module", pattern)
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			goPackage
			Module struct{ Path string }
		}
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("go list: %w", err)
		}
		if p.Module.Path == v.Path {
			v.packages = append(v.packages, p.goPackage)
		}
	}
	if v.result.Packages = len(v.packages); v.result.Packages == 0 {
		return errors.New("the module has no packages")
	}
	return nil
}

// paths gives the import paths of the packages that are chosen; nil chooses all.
func (v *visit) paths(choose func(goPackage) bool) []string {
	var paths []string
	for _, p := range v.packages {
		if choose == nil || choose(p) {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths
}

// count notes how many other modules packages are compiled from.
func (v *visit) count(ctx context.Context, folder string, packages []string) error {
	args := []string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"}
	out, err := v.run(ctx, folder, append(args, packages...)...)
	if err != nil {
		return err
	}
	others := map[string]bool{}
	for _, path := range lines(out) {
		others[path] = true
	}
	delete(others, v.Path)
	v.result.Modules = len(others)
	return nil
}

// lines cuts a text into those that aren't empty.
func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
}
