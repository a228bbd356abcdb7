package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// recipe has to change when this package starts to build the same source differently.
const recipe = "1"

// Hash returns a hash of all that the program is built from: the module's go.mod, go.sum and sources, the Go version
// and the system. Tests, Markdown, the budget of requirements, hidden files and nested modules don't count, so an edit
// of these doesn't cause a build.
func Hash(dir, goVersion, goos, goarch string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s %s %s %s\n", recipe, goVersion, goos, goarch)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != dir && entry.IsDir() && outside(path, entry.Name()) {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() || !counts(entry.Name()) {
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return add(sum, path, filepath.ToSlash(name))
	})
	if err != nil {
		return "", fmt.Errorf("devcluster source: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// outside reports whether a folder's files don't belong to the program.
func outside(path, name string) bool {
	if name == "testdata" || hidden(name) {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

func counts(name string) bool {
	return !hidden(name) && name != "budget.txt" && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md")
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") }

// add adds one file to the hash. Name and length come first, so that no two trees produce the same stream.
func add(sum io.Writer, path, name string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%s %d\n", name, info.Size())
	_, err = io.Copy(sum, file)
	return err
}
