package setupcommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/operkit/operkit/vcs"
)

// run makes the repository and prints the report.
func (s *settings) run(ctx context.Context, stdout, stderr io.Writer) error {
	// If a program that reads the output, such as head, ends early, the work must not be interrupted. Then writing the
	// report fails, and nothing else.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	defer signal.Stop(gone)
	options := s.options()
	m := newMeter(stderr)
	if !s.quiet {
		options.Progress = m.take
	}
	report, err := vcs.Setup(ctx, options)
	m.end()
	if err != nil {
		return coded(withHint(s.source, err))
	}
	if err := s.print(report, stdout, stderr); err != nil && !errors.Is(err, syscall.EPIPE) {
		return &exitError{fmt.Errorf("the repository was made, but the report can't be written: %w", err), exitFailed}
	}
	return nil
}

func (s *settings) options() vcs.SetupOptions {
	tags := s.tags
	if s.noTags {
		tags = []string{}
	}
	return vcs.SetupOptions{
		Source: s.source, Destination: s.destination, Tags: tags, Branches: s.branches, Prefix: s.prefix, TagsAs: vcs.TagsAs(s.tagsAs),
		Force: s.force, DryRun: s.dryRun, Verify: s.verify, NoWait: true,
	}
}

// withHint adds a hint to the error of a source that is a URL.
func withHint(source string, err error) error {
	_, missing := os.Stat(source)
	host, _, colon := strings.Cut(source, ":")
	if missing == nil || !colon || !strings.Contains(source, "://") && !strings.Contains(host, "@") {
		return err
	}
	return fmt.Errorf("%w: the source has to be a path: clone this URL with 'git clone --mirror' first", err)
}

// print prints the report to stdout and the warnings to stderr.
func (s *settings) print(report vcs.Report, stdout, stderr io.Writer) error {
	if s.output == "json" {
		return writeDocument(stdout, newDocument(s, report))
	}
	if s.quiet {
		return nil
	}
	for _, line := range limited(report.Warnings, "warnings") {
		_, _ = fmt.Fprintln(stderr, "warning: "+printable(line))
	}
	_, err := io.WriteString(stdout, s.text(report, columnsOf(stdout)))
	return err
}

// maxLines limits the lines of each kind in the report.
const maxLines = 20

// limited returns the first maxLines lines, and if there are more, a line with their number.
func limited(lines []string, what string) []string {
	if len(lines) <= maxLines {
		return lines
	}
	return append(lines[:maxLines:maxLines], fmt.Sprintf("and %d %s more: -o json has all of them", len(lines)-maxLines, what))
}
