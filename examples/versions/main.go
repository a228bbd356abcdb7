// Command versions prints a template from one version of a git repository, whatever is checked out there. Arguments
// give the number of the version and the values for the template. It is an example of the module vcs and uses no other
// module.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
)

// run runs the program and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parseArguments(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	text, err := s.render(ctx)
	if err == nil {
		_, err = stdout.Write(text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "versions:", err)
		return exitFailed
	}
	return 0
}

// settings are the values of the command line.
type settings struct {
	repository, version, template, cache string
	values                               map[string]string
}

func parseArguments(args []string, stderr io.Writer) (settings, error) {
	s := settings{values: map[string]string{}}
	flags := flag.NewFlagSet("versions", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "usage: versions --repository DIR --version NUMBER --template FILE [NAME=VALUE ...]\n\n"+
			"Prints the template that a version of a git repository has, with the values given.")
		flags.PrintDefaults()
	}
	flags.StringVar(&s.repository, "repository", "", "the git repository, a `folder` with or without files")
	flags.StringVar(&s.version, "version", "", "the `number` of a tag or branch: 1.2, 1.2.0 and v1.2.0 are the same")
	flags.StringVar(&s.template, "template", "", "the `path` of a template (Go's text/template) within the version")
	flags.StringVar(&s.cache, "cache", "", "the `folder` for versions that are checked out; by default one in the user's cache")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	err := s.complete(flags.Args())
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "versions:", err)
	}
	return s, err
}

// complete reads the values for the template, sets defaults, and returns an error if something is missing.
func (s *settings) complete(arguments []string) error {
	for _, argument := range arguments {
		name, value, ok := strings.Cut(argument, "=")
		if !ok || name == "" {
			return fmt.Errorf("argument %q: want NAME=VALUE, after all flags", argument)
		}
		s.values[name] = value
	}
	for _, required := range []struct{ flag, value string }{{"repository", s.repository}, {"version", s.version}, {"template", s.template}} {
		if required.value == "" {
			return fmt.Errorf("--%s is missing", required.flag)
		}
	}
	if s.cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no place for versions: %w: say --cache", err)
		}
		s.cache = filepath.Join(base, "operkit-versions")
	}
	return nil
}
