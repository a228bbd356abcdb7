package consumer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/operkit/operkit/tools/release/internal/process"
)

// testTimeout is how long the tests of one package may take.
const testTimeout = 20 * time.Minute

// test runs the module's tests and examples, in the module cache or where it is built.
func (v *visit) test(ctx context.Context) (err error) {
	folder := v.source
	if folder == "" {
		folder = v.dir
		if err := v.loud(ctx, folder, "get", "-t", v.all()+v.at()); err != nil {
			return err
		}
	}
	env := v.env
	needed, err := v.needsPlane(ctx, folder)
	if err != nil {
		return err
	}
	if needed {
		plane := plane{log: v.bench.log}
		var told []string
		if told, err = plane.start(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, plane.stop(context.WithoutCancel(ctx))) }()
		env = append(slices.Clone(env), told...)
	}
	args := append([]string{"test", "-timeout=" + testTimeout.String()}, v.paths(nil)...)
	out, err := process.Program{Dir: folder, Env: env, Name: "go", Args: args}.Combined(ctx)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("go test %s: %s", v.all(), failing(out))
	}
	return err
}

// failing leaves out the lines of packages whose tests passed or that have none.
func failing(out string) string {
	kept := slices.DeleteFunc(lines(out), func(line string) bool {
		return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t")
	})
	return strings.Join(append([]string{""}, kept...), "\n")
}

// needsPlane tells whether a test of the module depends on envtest.
func (v *visit) needsPlane(ctx context.Context, folder string) (bool, error) {
	args := append([]string{"list", "-deps", "-test", "-f", "{{.ImportPath}}"}, v.paths(nil)...)
	out, err := v.run(ctx, folder, args...)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(lines(out), func(line string) bool {
		path, _, _ := strings.Cut(line, " ") // what follows names the test that a package is compiled for
		return path == envtest
	}), nil
}
