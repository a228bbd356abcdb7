package proxy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/release/internal/git"
	"github.com/operkit/operkit/tools/release/internal/publication"
)

// Option is an option of [Fill].
type Option func(*settings)

type settings struct{ versions map[string]string }

// Versions sets versions such as v0.1.0 of modules, by module path. By default all modules share a version that can't
// be mistaken for a release: v0.0.0-TIME-HASH, from the time of the last commit and the contents of all modules. If
// there are several such options, their versions are merged.
func Versions(versions map[string]string) Option {
	return func(s *settings) { maps.Copy(s.versions, versions) }
}

// Fill writes every released module of the git repository whose top folder is root to the file-system module proxy in
// dir, which it creates if necessary, and returns the versions by module path. It takes the modules from the working
// tree, without nested modules and without files that git ignores. Requirements of modules of the repository get the
// versions of these modules, and lines that replace them are removed. Fill doesn't change the working tree or use the
// network.
//
// Versions that dir has already are kept; the same contents give the same version and the same bytes. Each file appears
// complete, so several processes may fill one folder. Fill returns an error, and writes nothing, if a released module
// requires a module of the repository that isn't released, or if modules require each other in a circle.
func Fill(ctx context.Context, root, dir string, options ...Option) (map[string]string, error) {
	s := settings{versions: map[string]string{}}
	for _, option := range options {
		if option != nil {
			option(&s)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
		return nil, fmt.Errorf("%s: it isn't the top folder of a git repository: %w", root, err)
	}
	r, err := repository.At(root)
	if err != nil {
		return nil, err
	}
	modules, err := publication.FromTree(ctx, r, s.versions)
	if err != nil {
		return nil, err
	}
	at, err := git.Dir(r.Root).Time(ctx)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, m := range modules {
		versions[m.Path] = m.Version
	}
	return versions, publication.Write(dir, modules, at)
}

// Environ returns the environment for a go command that takes modules from the proxy in dir. It is the environment of
// this process with these changes:
//
//   - GOPROXY is dir, then this machine's module cache, then the configured value, so that other modules are fetched
//     only once per machine;
//   - GONOSUMDB names the modules of dir, which the checksum database doesn't know, in addition to the configured
//     value;
//   - GOPRIVATE and GONOPROXY are unset: modules that these would fetch directly are looked for in GOPROXY first;
//   - GOWORK is off and GOFLAGS empty.
//
// If the modules are only temporary, also set GOMODCACHE to a separate folder: the go command never fetches a module
// again if its cache has the module. Environ returns an error if dir has no module.
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
	env := repository.Unsetenv(os.Environ(), "GOPROXY", "GONOSUMDB", "GOPRIVATE", "GONOPROXY", "GOWORK", "GOFLAGS")
	env = append(env,
		"GOPROXY="+join(fileURL(absolute), fileURL(filepath.Join(was.GOMODCACHE, "cache", "download")), was.GOPROXY),
		"GONOSUMDB="+join(append(paths, was.GONOSUMDB)...),
		"GOWORK=off", "GOFLAGS=",
	)
	// The go command's settings file may still set GOPRIVATE and GONOPROXY. Set GONOPROXY only in this case: if it has
	// any value, the go command doesn't find a module inside of another module that is in its cache.
	is, err := configured(ctx, env)
	if is.GONOPROXY != "" {
		env = append(env, "GONOPROXY=none")
	}
	return env, err
}

// goSettings are some settings of the go command.
type goSettings struct{ GOPROXY, GONOSUMDB, GONOPROXY, GOMODCACHE string }

// configured asks the go command for its settings in an environment.
func configured(ctx context.Context, env []string) (goSettings, error) {
	cmd := process.Command(ctx, "", env, "go", "env", "-json", "GOPROXY", "GONOSUMDB", "GONOPROXY", "GOMODCACHE")
	return process.One[goSettings](ctx, cmd)
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
		path = "/" + path // a path on Windows begins with a letter
	}
	return "file://" + strings.NewReplacer("%", "%25", " ", "%20", "#", "%23", "?", "%3F", ",", "%2C").Replace(path)
}

// join joins the parts that aren't empty to a comma-separated list.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ",")
}
