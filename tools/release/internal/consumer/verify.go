package consumer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/operkit/operkit/tools/check/controlplane"
	"github.com/operkit/operkit/tools/check/process"
	"github.com/operkit/operkit/tools/check/repository"
	"github.com/operkit/operkit/tools/envtest/devcluster"
	"github.com/operkit/operkit/tools/release/internal/publication"
)

// Result is the result of one module.
type Result struct {
	Module, Version string
	// Modules is how many other modules the consumer's program is compiled from, without the standard library.
	Modules int
	// Packages is how many packages the module has.
	Packages int
	// Bytes is the size of the consumer's program, or, for a module with only commands, the size of the largest
	// command.
	Bytes int64
	// Err names the step that failed and has the output of the step's command. It is nil if every step succeeded.
	Err error
}

// Verify uses one module as its consumers do. With tests it also runs the module's tests and examples.
func (b *Bench) Verify(ctx context.Context, m publication.Module, tests bool) Result {
	v := &visit{bench: b, Module: m, env: b.env, result: Result{Module: m.Dir, Version: m.Version}}
	v.dir = filepath.Join(b.dir, strings.ReplaceAll(m.Dir, "/", "-"))
	steps := []step{{"tidy", v.tidy}}
	if replaces(m) {
		steps = append(steps, step{"download", v.download}, step{"build", v.buildInPlace})
	} else {
		steps = append(steps, step{"fetch", v.fetch}, step{"build", v.build}, step{"consume", v.consume}, step{"install", v.install})
	}
	if tests {
		steps = append(steps, step{"test", v.test})
	}
	for _, s := range steps {
		start := time.Now()
		if err := s.do(ctx); err != nil {
			b.say(m, "%s FAILED", s.name)
			v.result.Err = fmt.Errorf("%s: %w", s.name, err)
			break
		}
		b.say(m, "%s %.1fs", s.name, time.Since(start).Seconds())
	}
	return v.result
}

type step struct {
	name string
	do   func(context.Context) error
}

// replaces reports whether the published go.mod has replace lines. Other modules can't require such a module, and `go
// install` refuses it. Its consumers download the module and build it in its folder.
func replaces(m publication.Module) bool {
	file, err := modfile.Parse("go.mod", m.Files["go.mod"], nil)
	return err == nil && len(file.Replace) > 0
}

// visit is the verification of one module.
type visit struct {
	publication.Module
	bench    *Bench
	dir      string   // the consumer's folder
	source   string   // the module's folder, if the module is built there
	env      []string // of the go commands
	packages []goPackage
	result   Result
}

// goPackage is a package of the module.
type goPackage struct {
	ImportPath, Name string
	Module           struct{ Path string }
}

// importable reports whether other modules may import the package.
func (p goPackage) importable() bool {
	return !p.command() && !strings.Contains("/"+p.ImportPath+"/", "/internal/")
}

// command reports whether the package is a program, which users install.
func (p goPackage) command() bool { return p.Name == "main" }

// run runs go in a folder and returns its standard output. Its error contains standard output and standard error.
func (v *visit) run(ctx context.Context, folder string, args ...string) (string, error) {
	out, err := process.Output(ctx, process.Command(ctx, folder, v.env, "go", args...))
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		err = fmt.Errorf("%w\n%s", err, text)
	}
	return string(out), err
}

// all returns the pattern of the module's packages. It also matches packages of nested modules that are in use.
func (v *visit) all() string { return v.Path + "/..." }

func (v *visit) at() string { return "@" + v.Version }

// tidy returns an error if go mod tidy would change the published go.mod or go.sum.
func (v *visit) tidy(ctx context.Context) error {
	folder := v.dir + "-alone"
	if err := v.Files.Write(folder); err != nil {
		return err
	}
	_, err := v.run(ctx, folder, "mod", "tidy", "-diff")
	return err
}

// fetch adds the module as a requirement to a new module, and lists the packages of the module.
func (v *visit) fetch(ctx context.Context) error {
	if err := os.MkdirAll(v.dir, 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "init", "example.com/consumer"}, {"get", v.Path + v.at()}, {"get", v.all() + v.at()}} {
		if _, err := v.run(ctx, v.dir, args...); err != nil {
			return err
		}
	}
	return v.list(ctx, v.dir, v.all())
}

func (v *visit) build(ctx context.Context) error {
	_, err := v.run(ctx, v.dir, append([]string{"build"}, v.paths(nil)...)...)
	return err
}

// install installs the module's commands.
func (v *visit) install(ctx context.Context) error {
	commands := v.paths(goPackage.command)
	bin := v.dir + "-bin"
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	for _, path := range commands {
		v.env = append(v.env, "GOBIN="+bin)
		if _, err := v.run(ctx, bin, "install", path+v.at()); err != nil {
			return err
		}
	}
	return v.weigh(bin)
}

// weigh records the size of the largest command, unless a consumer's program was built.
func (v *visit) weigh(bin string) error {
	entries, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	if v.result.Bytes > 0 {
		return nil
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return err
		}
		v.result.Bytes = max(v.result.Bytes, info.Size())
	}
	return nil
}

// testTimeout is how long the tests of one package may take.
const testTimeout = 20 * time.Minute

// test runs the module's tests and examples, in the module cache or in the folder in which the module is built. If the
// tests need a control plane, and the environment names none, test starts one. Modules don't share a control plane,
// because the definitions of their tests may conflict.
func (v *visit) test(ctx context.Context) error {
	folder := v.source
	if folder == "" {
		folder = v.dir
		if _, err := v.run(ctx, folder, "get", "-t", v.all()+v.at()); err != nil {
			return err
		}
	}
	group := repository.Group{Subject: v.Path, Folder: folder, Environ: v.env, Patterns: v.paths(nil)}
	needed, err := controlplane.Used(ctx, group)
	if err != nil {
		return err
	}
	if !needed || os.Getenv(devcluster.Variable) != "" {
		return v.goTest(ctx, group)
	}
	binary, err := controlplane.Binary(ctx, v.bench.log)
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, v.dir, binary, v.bench.log)
	if err != nil {
		return err
	}
	group.Environ = append(slices.Clone(v.env), devcluster.BinaryVariable+"="+binary, devcluster.Variable+"="+plane.Dir)
	return errors.Join(v.goTest(ctx, group), plane.Stop(context.WithoutCancel(ctx)))
}

func (v *visit) goTest(ctx context.Context, group repository.Group) error {
	args := append([]string{"test", "-timeout=" + testTimeout.String()}, group.Patterns...)
	out, err := process.Combined(ctx, process.Command(ctx, group.Folder, group.Environ, "go", args...))
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("go test %s: %s", v.all(), failing(out))
	}
	return err
}

// failing returns the output without the lines of packages whose tests passed or that have no tests.
func failing(out string) string {
	kept := slices.DeleteFunc(lines(out), func(line string) bool {
		return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t")
	})
	return strings.Join(append([]string{""}, kept...), "\n")
}
