package publication

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// nobody is the text of the file that a proxy has instead of the folder with versions, for a path that isn't a module.
const nobody = "No module has this path. This is a file instead of a folder, so that the go command reports an error and doesn't ask another proxy.\n"

// Write adds the modules to a file-system module proxy in dir, which is created if it doesn't exist. Each file is
// replaced atomically. Other versions in the proxy stay; equal versions are replaced.
//
// The proxy also serves an error for each path between a module and the top of the repository that isn't a module. The
// go command requests all these paths when it looks for the module of a package. Without the error it would ask the
// next proxy.
func Write(dir string, modules []Module, at time.Time) error {
	known := map[string]bool{}
	for _, m := range modules {
		known[m.Path] = true
		if err := writeModule(dir, m, at); err != nil {
			return fmt.Errorf("proxy %s: %s: %w", dir, m.Path, err)
		}
	}
	for _, m := range modules {
		for _, parent := range parents(m) {
			if known[parent] {
				continue
			}
			if err := block(dir, parent); err != nil {
				return fmt.Errorf("proxy %s: %s: %w", dir, parent, err)
			}
		}
	}
	return nil
}

func writeModule(dir string, m Module, at time.Time) error {
	folder, err := versionsFolder(dir, m.Path)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(folder); err == nil && info.Mode().IsRegular() { // until now the path wasn't a module
		if err := os.Remove(folder); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, at.UTC()})
	if err != nil {
		return err
	}
	version, err := module.EscapeVersion(m.Version)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{
		version + ".zip": m.Archive, version + ".mod": m.Files["go.mod"], version + ".info": info, "../@latest": info,
	} {
		if err := replaceFile(filepath.Join(folder, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	return writeList(folder)
}

// writeList writes the list of the versions in the folder.
func writeList(folder string) error {
	archives, err := filepath.Glob(filepath.Join(folder, "*.zip"))
	if err != nil {
		return err
	}
	var versions []string
	for _, archive := range archives {
		version, err := module.UnescapeVersion(strings.TrimSuffix(filepath.Base(archive), ".zip"))
		if err == nil && semver.IsValid(version) {
			versions = append(versions, version)
		}
	}
	semver.Sort(versions)
	return replaceFile(filepath.Join(folder, "list"), []byte(strings.Join(append(versions, ""), "\n")))
}

// parents returns the parents of the module's path, up to the path of the repository's top.
func parents(m Module) []string {
	base, _, _ := module.SplitPathVersion(m.Path)
	top, found := strings.CutSuffix(base, "/"+m.Dir)
	if !found {
		return nil
	}
	var paths []string
	for at := path.Dir(base); len(at) >= len(top); at = path.Dir(at) {
		paths = append(paths, at)
	}
	return paths
}

// block makes the proxy serve an error for a path that isn't a module.
func block(dir, modulePath string) error {
	folder, err := versionsFolder(dir, modulePath)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(folder); !errors.Is(err, os.ErrNotExist) {
		return err // the path is a module, or it is blocked already
	}
	return replaceFile(folder, []byte(nobody))
}

func versionsFolder(dir, modulePath string) (string, error) {
	escaped, err := module.EscapePath(modulePath)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.FromSlash(escaped), "@v"), nil
}

// replaceFile writes a file atomically.
func replaceFile(name string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // without effect if the file was renamed
	_, err = temporary.Write(text)
	if err := errors.Join(err, temporary.Chmod(0o644), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), name)
}
