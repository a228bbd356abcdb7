package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/name"
	"github.com/operkit/operkit/tools/operkit/internal/project"
	"github.com/operkit/operkit/tools/operkit/internal/record"
	"github.com/spf13/cobra"
)

const initHelp = `init writes a new operator into an empty folder: a program with one kind and one component,
its tests, and files to build and install it. Then it runs the go command to fetch the required
modules.

NAME is the name of the operator, its program, its namespace and its Deployment. It is also the
field manager: the cluster records under this name which fields belong to the operator. Keep the
name from release to release.

Files:
  main.go                    the program
  api/VERSION                the kind as Go types, and generated deep copies
  internal/KIND              the controller, its component 'server' (unless --empty), and their tests
  config/crd                 the generated definition
  config/samples             a sample resource
  config/rbac, manager       the rights that the operator needs, and its Deployment
  cluster_test.go            a test of these rights on a real API server
  Makefile, Dockerfile, .golangci.yml, .github/workflows/ci.yaml, README.md, AGENTS.md
  .operkit                   what was written, for 'operkit update'`

const initExamples = `  operkit init guestbook-operator --kind Guestbook --group example.com
  operkit init guestbook-operator --kind Guestbook --group example.com --empty
  operkit init backup-operator --kind Backup --group storage.example.com --version v1alpha1 \
      --module github.com/you/backup-operator --dir .`

// initFlags are the settings of the command init.
type initFlags struct {
	kind, group, version string
	module, dir, operkit string
	empty, noTidy        bool
}

func (p *program) init() *cobra.Command {
	var f initFlags
	cmd := &cobra.Command{
		Use:                   "init NAME --kind KIND --group GROUP [flags]",
		SuggestFor:            []string{"new", "start", "scaffold", "project"},
		Short:                 "Write a new operator into an empty folder",
		Long:                  initHelp,
		Example:               initExamples,
		DisableFlagsInUseLine: true,
		Args:                  one("NAME, such as guestbook-operator"),
		RunE:                  func(cmd *cobra.Command, args []string) error { return p.initialize(cmd.Context(), args[0], f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.kind, "kind", "", "`KIND` of the resources, such as Guestbook")
	flags.StringVar(&f.group, "group", "", "`GROUP` of the kind, a domain such as example.com")
	flags.StringVar(&f.version, "version", "v1", "`VERSION` of the kind")
	flags.BoolVar(&f.empty, "empty", false, "write a kind without fields and a controller without components")
	flags.StringVar(&f.module, "module", "", "`PATH` of the Go module (default example.com/NAME, a placeholder)")
	flags.StringVar(&f.dir, "dir", "", "`FOLDER` to write into, which must be empty or missing (default NAME)")
	flags.StringVar(&f.operkit, "operkit-version", p.versions.Operator, "`VERSION` of operator/full to require, or latest")
	flags.BoolVar(&f.noTidy, "no-tidy", false, "only write files: don't run the go command, which fetches modules")
	return cmd
}

func (p *program) initialize(ctx context.Context, operator string, f initFlags) error {
	if f.module == "" {
		f.module = "example.com/" + operator
	}
	if f.dir == "" {
		f.dir = operator
	}
	if err := f.check(operator); err != nil {
		return usage(err)
	}
	versions := p.versions
	versions.Operator = f.operkit
	values := project.Values{
		Name: operator, Module: f.module, Kind: f.kind, Group: f.group, Version: f.version,
		API: "api/" + f.version, Package: name.Package(f.kind), Empty: f.empty, Versions: versions,
	}
	files, err := p.files(values)
	if err != nil {
		return err
	}
	if err := project.CheckEmpty(f.dir); err != nil {
		return usage(err)
	}
	if err := project.Create(f.dir, files); err != nil {
		return fmt.Errorf("failed to write the operator, all its files were removed from %s: %w", f.dir, err)
	}
	p.say("wrote %d files into %s", len(files), f.dir)
	required := []goCommand{
		{"get", project.Operator + "@" + versions.Operator, project.Envtest + "@" + versions.Envtest},
		{"mod", "tidy"},
	}
	if f.noTidy {
		p.next(f, required)
		return nil
	}
	for i, command := range required {
		p.say("%s", command)
		if err := command.run(ctx, f.dir, p.stderr, "GOWORK=off"); err != nil {
			return fmt.Errorf("%w\nThe files are written. Fix the problem, then run:\n  %s", err, inFolder(f.dir, required[i:]))
		}
	}
	p.next(f, nil)
	return p.noteWorkspace(ctx, f.dir)
}

// files returns the files of a new project, with the record of them.
func (p *program) files(values project.Values) ([]project.File, error) {
	files, err := project.New(values)
	if err != nil {
		return nil, err
	}
	recorded, err := record.New(p.version, values, files).Files()
	return append(files, recorded...), err
}

// check returns an error with all mistakes in the arguments.
func (f initFlags) check(operator string) error {
	errs := []error{name.Operator(operator)}
	for _, needed := range []struct {
		flag, value string
		check       func(string) error
		example     string
	}{
		{"--kind", f.kind, name.Kind, "Guestbook"},
		{"--group", f.group, name.Group, "example.com"},
		{"--version", f.version, name.Version, "v1"},
		{"--module", f.module, name.Module, "example.com/guestbook-operator"},
		{"--operkit-version", f.operkit, checkQuery, "latest"},
	} {
		if needed.value == "" {
			errs = append(errs, fmt.Errorf("%s: is missing: give %s %s", needed.flag, needed.flag, needed.example))
			continue
		}
		errs = append(errs, needed.check(needed.value))
	}
	return errors.Join(errs...)
}

// checkQuery checks the version query for the go command.
func checkQuery(query string) error {
	if strings.ContainsAny(query, "@ \t") {
		return fmt.Errorf("operkit version %q: write a version such as v0.1.0, or latest", query)
	}
	return nil
}

// next prints the next steps, in four lines.
func (p *program) next(f initFlags, before []goCommand) {
	change := inFolder(f.dir, before)
	if filepath.Clean(f.dir) == "." && len(before) == 0 {
		change = "make           # lists the targets"
	}
	p.say("\nNext:\n  %s\n  make test      # runs the tests, on a cluster in memory\n"+
		"  make run       # runs the operator on a control plane on this machine (the first build takes minutes)\n"+
		"  make sample    # in another terminal: creates a %s, and waits until it is ready", change, f.kind)
}

// noteWorkspace prints a note if a Go workspace around the folder hides the new module.
func (p *program) noteWorkspace(ctx context.Context, dir string) error {
	around, err := goCommand{"env", "GOWORK"}.output(ctx, dir, io.Discard)
	if around = strings.TrimSpace(around); err == nil && around != "" && around != "off" {
		p.say("\nThe new folder is inside of the Go workspace %s. The go command only builds modules that the workspace uses: run 'go work use .' in the new folder", around)
	}
	return err
}
