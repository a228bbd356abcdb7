package hygiene

import (
	"bytes"
	"context"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
)

// Tidy finds what go mod tidy would change in each module, without the workspace. It also finds requirements of other
// versions than the workspace builds with: such a module is tested with other versions than its users get. go work sync
// fixes these requirements.
func Tidy(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	selected, problem, err := selectedVersions(ctx, r)
	if err != nil {
		return report, err
	}
	for _, m := range r.Modules {
		alone := repository.Setenv(r.Environ(m), "GOWORK", "off")
		out, err := process.Output(ctx, process.Command(ctx, r.Folder(m), alone, "go", "mod", "tidy", "-diff"))
		if process.Failed(err) {
			report.Problems = append(report.Problems, strings.TrimSpace(fmt.Sprintf("%s: %v\n%s", m.Dir, err, shorten(string(out)))))
		} else if err != nil {
			return report, fmt.Errorf("%s: %w", m.Dir, err)
		}
		for _, need := range m.Requires {
			used, known := selected[need.Path]
			if m.InWorkspace() && known && !need.Indirect && used != need.Version {
				report.Problems = append(report.Problems, fmt.Sprintf("%s/go.mod: requires %s %s, the workspace builds with %s: run go work sync",
					m.Dir, need.Path, need.Version, used))
			}
		}
	}
	if problem != "" {
		report.Problems = append(report.Problems, problem)
	}
	return report, nil
}

// shorten leaves out the changes of go.sum, which are long and follow from the changes of go.mod. If only go.sum
// changes, it keeps them.
func shorten(diff string) string {
	before, _, found := strings.Cut(diff, "diff current/go.sum tidy/go.sum\n")
	if !found || strings.TrimSpace(before) == "" {
		return diff
	}
	return strings.TrimRight(before, "\n") + "\nand go.sum"
}

// selectedVersions returns the version of every module that the workspace builds with. The modules of the workspace
// itself are left out.
func selectedVersions(ctx context.Context, r *repository.Repository) (versions map[string]string, problem string, err error) {
	cmd := process.Command(ctx, r.Root, r.WorkspaceEnviron(), "go", "list", "-m", "-f", "{{if not .Main}}{{.Path}} {{.Version}}{{end}}", "all")
	out, err := process.Output(ctx, cmd)
	if process.Failed(err) {
		return nil, "go.work: " + err.Error(), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("go.work: %w", err)
	}
	versions = map[string]string{}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) == 2 {
			versions[fields[0]] = fields[1]
		}
	}
	return versions, "", nil
}

// Format finds the Go files that gofmt would change. With o.Write it formats them instead.
func Format(ctx context.Context, r *repository.Repository, o repository.Options) (report repository.Report, err error) {
	files, err := r.Files(ctx, ".go")
	for _, name := range files {
		path := filepath.Join(r.Root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			return report, err
		}
		formatted, wrong := format.Source(text)
		if wrong == nil { // format.Source also takes a part of a file
			_, wrong = parser.ParseFile(token.NewFileSet(), "", text, parser.PackageClauseOnly)
		}
		switch {
		case wrong != nil:
			report.Problems = append(report.Problems, name+":"+wrong.Error())
		case bytes.Equal(text, formatted):
		case !o.Write:
			report.Problems = append(report.Problems, name+": not formatted: run make fmt")
		default:
			if err := os.WriteFile(path, formatted, 0o644); err != nil {
				return report, err
			}
		}
	}
	return report, err
}

// largest is the maximum size of a file in bytes: larger than any source file, smaller than any program.
const largest = 1 << 20

// Large finds files that are too large for a source file, such as a program that was built in a source folder. Once
// such a file is committed, every clone of the repository contains it forever.
func Large(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	files, err := r.Files(ctx, "")
	for _, name := range files {
		info, err := os.Stat(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err != nil {
			return report, err
		}
		if info.Size() > largest {
			report.Problems = append(report.Problems, fmt.Sprintf("%s: %.1f MB, a file may have 1 MB at most: remove built programs, and generate large data where it is needed",
				name, float64(info.Size())/(1<<20)))
		}
	}
	return report, err
}

// testName is the declaration of a function that the go command runs.
var testName = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)(?:[^a-z(]\w*)?)\(`)

// TestNames finds tests, benchmarks, fuzz targets and examples whose name occurs twice in one folder: in the package
// and in its external test package. The output of go test doesn't say which of the two failed.
func TestNames(ctx context.Context, r *repository.Repository, _ repository.Options) (report repository.Report, err error) {
	files, err := r.Files(ctx, "_test.go")
	first := map[string]string{} // by folder and name: the file that declares the name
	for _, file := range files {
		if strings.Contains("/"+file, "/testdata/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(r.Root, filepath.FromSlash(file)))
		if err != nil {
			return report, err
		}
		for _, found := range testName.FindAllStringSubmatch(string(text), -1) {
			key := path.Dir(file) + " " + found[1]
			if other, twice := first[key]; twice && found[1] != "TestMain" {
				report.Problems = append(report.Problems, fmt.Sprintf("%s: %s is declared in %s too: rename one of them", file, found[1], path.Base(other)))
			}
			first[key] = file
		}
	}
	return report, err
}
