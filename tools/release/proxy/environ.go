package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/release/internal/process"
)

// Environ gives the environment of this process, changed for a go command that is to take modules from the proxy in dir:
//
//   - GOPROXY is dir, then this machine's module cache, then what was configured before, so that modules of others are
//     fetched once per machine;
//   - GONOSUMDB names the modules of dir, about which the checksum database knows nothing, beside what was configured;
//   - GOPRIVATE and GONOPROXY are out of force: what they have fetched directly is looked for in GOPROXY first;
//   - GOWORK is off and GOFLAGS empty.
//
// Set GOMODCACHE besides to a folder of its own for modules that are thrown away later: what a cache has once it doesn't
// ask for again. It is an error when dir holds no module.
func Environ(ctx context.Context, dir string) ([]string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	paths, err := served(absolute)
	if err != nil {
		return nil, fmt.Errorf("proxy %s: %w", dir, err)
	}
	was, err := configured(ctx, os.Environ())
	if err != nil {
		return nil, err
	}
	env := without(os.Environ(), "GOPROXY", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOWORK", "GOFLAGS")
	env = append(env,
		"GOPROXY="+join(fileURL(absolute), fileURL(filepath.Join(was.GOMODCACHE, "cache", "download")), was.GOPROXY),
		"GONOSUMDB="+join(append(paths, was.GONOSUMDB)...),
		"GOWORK=off", "GOFLAGS=",
	)
	// A file of settings may still have the two. Only then is GONOPROXY set: the go command doesn't find a module inside of
	// another one that it has in its cache as long as the variable has any value.
	is, err := configured(ctx, env)
	if is.GONOPROXY != "" {
		env = append(env, "GONOPROXY=none")
	}
	return env, err
}

// goSettings are some of the go command's.
type goSettings struct{ GOPROXY, GONOSUMDB, GONOPROXY, GOMODCACHE string }

// configured asks the go command what is in force in an environment.
func configured(ctx context.Context, env []string) (goSettings, error) {
	var s goSettings
	args := []string{"env", "-json", "GOPROXY", "GONOSUMDB", "GONOPROXY", "GOMODCACHE"}
	out, err := process.Program{Env: env, Name: "go", Args: args}.Output(ctx)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		return s, fmt.Errorf("go env: %w", err)
	}
	return s, nil
}

// without takes variables out of an environment.
func without(env []string, variables ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(variables, name)
	})
}

// served lists the paths of the modules that a proxy has.
func served(dir string) ([]string, error) {
	var paths []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || entry.Name() != "@v" {
			return err
		}
		relative, err := filepath.Rel(dir, filepath.Dir(path))
		if err != nil {
			return err
		}
		modulePath, err := module.UnescapePath(filepath.ToSlash(relative))
		paths = append(paths, modulePath)
		return err
	})
	if err == nil && len(paths) == 0 {
		err = errors.New("it has no module: fill it first")
	}
	return paths, err
}

func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a path of Windows begins with a letter
	}
	return "file://" + strings.NewReplacer("%", "%25", " ", "%20", "#", "%23", "?", "%3F", ",", "%2C").Replace(path)
}

// join puts what isn't empty in a list.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ",")
}
