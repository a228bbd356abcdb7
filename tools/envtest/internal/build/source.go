package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

const (
	// Module is the module path of the devcluster program.
	Module = "github.com/operkit/operkit/tools/devcluster"
	// sibling is the module that this package belongs to; both are published under the same version.
	sibling = "github.com/operkit/operkit/tools/envtest"
	// inRepository is the program's folder, relative to the repository's root.
	inRepository = "tools/devcluster"
)

// published matches versions that a module proxy can have: not "(devel)", and no version with local changes ("+dirty").
var published = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+[-.0-9A-Za-z]*$`)

// inModuleCache matches the path of a file of this module in the module cache, which contains the version.
var inModuleCache = regexp.MustCompile(regexp.QuoteMeta(sibling) + `@(v[^/]+)/`)

// Finder finds the folder of the program's source. Get one from [NewFinder]; the zero value finds nothing.
type Finder struct {
	// SourceFile is the path of a source file of this module, as recorded by the compiler. With -trimpath it begins
	// with the module path, followed by the version if the file came from a module cache.
	SourceFile string
	// WorkDir is the folder to search upward from: a test runs in the folder of its package.
	WorkDir string
	// Info is the running program's build information, or nil if it has none.
	Info *debug.BuildInfo
	// Scratch is a folder outside any module, for go commands that must not find a go.mod.
	Scratch string
	// Environ is the environment of the go command.
	Environ []string
}

// NewFinder returns the finder for the running program. scratch is a folder outside any module.
func NewFinder(scratch string) (Finder, error) {
	workDir, err := os.Getwd()
	if err != nil {
		return Finder{}, fmt.Errorf("devcluster source: %w", err)
	}
	_, file, _, _ := runtime.Caller(0)
	info, _ := debug.ReadBuildInfo()
	return Finder{SourceFile: file, WorkDir: workDir, Info: info, Scratch: scratch, Environ: os.Environ()}, nil
}

// Find returns the folder of the program's source. It tries in this order: the repository that this code was compiled
// from; the repository around the working directory; the published module of the same version, downloaded if the module
// cache lacks it; and the published module of the version, or the folder, that the go command reports for this module
// in the working directory.
func (f Finder) Find(ctx context.Context) (string, error) {
	if filepath.IsAbs(f.SourceFile) {
		if dir := upward(filepath.Dir(f.SourceFile)); dir != "" {
			return dir, nil
		}
	}
	if dir := upward(f.WorkDir); dir != "" {
		return dir, nil
	}
	if version := f.version(); version != "" {
		return f.download(ctx, version)
	}
	dir, err := f.ask(ctx)
	if err != nil {
		return "", fmt.Errorf("devcluster source: it is in no folder above %s, and the version of %s is unknown: %w", f.WorkDir, sibling, err)
	}
	return dir, nil
}

// upward looks for the repository in a folder and its parents.
func upward(dir string) string {
	for {
		if found := filepath.Join(dir, filepath.FromSlash(inRepository)); isModule(found) {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func isModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "module" {
			return strings.Trim(fields[1], `"`) == Module
		}
	}
	return false
}

// version returns the published version of this module that is linked into the running program, or "" if it is unknown.
// Test programs have no versions in their build information, so version first reads the path of a source file. With
// vendored modules that path has no version.
func (f Finder) version() string {
	if cached := inModuleCache.FindStringSubmatch(filepath.ToSlash(f.SourceFile)); cached != nil {
		return cached[1]
	}
	if f.Info == nil {
		return ""
	}
	for _, module := range append([]*debug.Module{&f.Info.Main}, f.Info.Deps...) {
		if module.Path == sibling && module.Replace == nil && published.MatchString(module.Version) {
			return module.Version
		}
	}
	return ""
}

func (f Finder) download(ctx context.Context, version string) (string, error) {
	g := gocmd{dir: f.Scratch, env: f.Environ}.with("GOWORK=off", "GOFLAGS=-mod=mod")
	query := Module + "@" + version
	out, err := g.output(ctx, "mod", "download", "-json", query)
	if out == "" && err != nil {
		return "", fmt.Errorf("devcluster source %s: %w", query, err)
	}
	var got struct{ Dir, Error string }
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		return "", fmt.Errorf("devcluster source %s: go mod download printed no JSON: %w", query, err)
	}
	if got.Error != "" {
		return "", fmt.Errorf("devcluster source %s: %s", query, got.Error)
	}
	return got.Dir, nil
}

// ask asks the go command for this module's version, or for its folder if a workspace or a replace line sets one.
func (f Finder) ask(ctx context.Context) (string, error) {
	out, err := gocmd{dir: f.WorkDir, env: f.Environ}.output(ctx, "list", "-m", "-mod=readonly", "-json", sibling)
	if err != nil {
		return "", err
	}
	var module struct {
		Version, Dir string
		Replace      *struct{ Dir string }
	}
	if err := json.Unmarshal([]byte(out), &module); err != nil {
		return "", fmt.Errorf("go list -m printed no JSON: %w", err)
	}
	if module.Replace == nil && published.MatchString(module.Version) {
		return f.download(ctx, module.Version)
	}
	dir := filepath.Join(filepath.Dir(module.Dir), filepath.Base(Module))
	if !isModule(dir) {
		return "", errors.New(dir + " isn't its folder")
	}
	return dir, nil
}
