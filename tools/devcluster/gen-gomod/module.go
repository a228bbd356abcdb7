package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// staging is the beginning of folders in Kubernetes' go.mod that are published as separate modules.
const staging = "./staging/"

// module has the parts of a go.mod that this program reads, as 'go mod edit -json' prints them.
type module struct {
	Go      string
	Require []struct{ Path, Version string }
	Replace []replacement
	Godebug []struct{ Key, Value string }
}

type replacement struct {
	Old, New struct{ Path, Version string }
}

// readModule reads a go.mod file.
func readModule(ctx context.Context, path string) (module, error) {
	var m module
	out, err := command(ctx, "mod", "edit", "-json", path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(out, &m); err != nil {
		return m, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// download reads the go.mod of a published module.
func download(ctx context.Context, path, version string) (module, error) {
	out, err := command(ctx, "mod", "download", "-json", path+"@"+version)
	if err != nil {
		return module{}, err
	}
	var answer struct{ GoMod string }
	if err := json.Unmarshal(out, &answer); err != nil {
		return module{}, fmt.Errorf("%s@%s: %w", path, version, err)
	}
	return readModule(ctx, answer.GoMod)
}

func (m module) required(path string) (string, error) {
	for _, r := range m.Require {
		if r.Path == path {
			return r.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod does not require %s: give -version", path)
}

// plan returns the arguments for 'go mod edit' that bring own up to date, or none if it is up to date.
func plan(own, upstream module, version string) ([]string, error) {
	stagingVersion, err := published(version)
	if err != nil {
		return nil, err
	}
	var edits []string
	if current, err := own.required(kubernetes); err != nil || current != version {
		edits = append(edits, "-require="+kubernetes+"@"+version)
	}
	current := map[string]string{}
	for _, r := range own.Replace {
		current[r.Old.Path] = r.New.Path + "@" + r.New.Version
	}
	for _, r := range upstream.Replace {
		if !strings.HasPrefix(r.New.Path, staging) {
			continue
		}
		path := r.Old.Path
		if wanted := path + "@" + stagingVersion; current[path] != wanted {
			edits = append(edits, "-replace="+path+"="+wanted)
		}
		delete(current, path)
	}
	for _, r := range own.Replace {
		if _, left := current[r.Old.Path]; left && strings.HasPrefix(r.Old.Path, "k8s.io/") {
			edits = append(edits, "-dropreplace="+r.Old.Path)
		}
	}
	return append(edits, planGodebug(own, upstream)...), nil
}

// planGodebug copies the godebug settings from Kubernetes' go.mod, since Kubernetes is tested with them.
func planGodebug(own, upstream module) []string {
	current := map[string]string{}
	for _, g := range own.Godebug {
		current[g.Key] = g.Value
	}
	var edits []string
	for _, g := range upstream.Godebug {
		if current[g.Key] != g.Value {
			edits = append(edits, "-godebug="+g.Key+"="+g.Value)
		}
	}
	return edits
}

// published returns the version of the staging modules for a version of Kubernetes: v0.36.3 for v1.36.3.
func published(version string) (string, error) {
	rest, ok := strings.CutPrefix(version, "v1.")
	if !ok {
		return "", fmt.Errorf("version %q of %s is not of the form v1.MINOR.PATCH", version, kubernetes)
	}
	return "v0." + rest, nil
}

// edit applies edits to the go.mod in the working directory.
func edit(ctx context.Context, edits []string) error {
	if len(edits) == 0 {
		return nil
	}
	_, err := command(ctx, append([]string{"mod", "edit"}, edits...)...)
	return err
}

// command runs the go command and returns what it prints.
func command(ctx context.Context, arguments ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "go", arguments...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return nil, fmt.Errorf("go %s: %w: %s%s", strings.Join(arguments, " "), err, exit.Stderr, out)
		}
		return nil, fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	return out, nil
}
