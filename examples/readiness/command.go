package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
)

// errNotReady ends the command if an object isn't ready. The table has the details.
var errNotReady = errors.New("not everything is ready")

// settings are the values of the flags.
type settings struct {
	output string
	quiet  bool
}

func newCommand(now func() time.Time) *cobra.Command {
	var s settings
	command := &cobra.Command{
		Use:   "readiness FILE...",
		Short: "Tell whether Kubernetes objects are ready",
		Long: `Readiness reads Kubernetes objects, with their status, and prints for each of them
whether it is ready and why. Files are YAML or JSON with any number of documents
and lists, as kubectl and the API server print them; - is standard input.

The status is one of Ready, InProgress, Failed, Terminating and Unknown. The
exit code is 0 when all objects are Ready, 1 when one isn't, and 2 when a file
can't be read or holds no object, or when the arguments are wrong.`,
		Example: `  kubectl get deployments,services,pods -o yaml | readiness -
  readiness web.yaml database.json && echo all is well
  kubectl get all -o json | readiness --output json - | jq '.[] | select(.status == "Failed")'`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return errors.New("no file is named: give files, or - for standard input; --help tells more")
			}
			return nil
		},
		RunE: func(command *cobra.Command, files []string) error {
			return s.run(files, now(), command.InOrStdin(), command.OutOrStdout())
		},
	}
	command.CompletionOptions.DisableDefaultCmd = true
	flags := command.Flags()
	flags.StringVarP(&s.output, "output", "o", "table", "how the result is written: table or json")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print nothing, the exit code tells")
	return command
}

func (s settings) run(files []string, now time.Time, stdin io.Reader, stdout io.Writer) error {
	if s.output != "table" && s.output != "json" {
		return fmt.Errorf("--output %s: want table or json", s.output)
	}
	objects, err := readAll(files, stdin)
	if err != nil {
		return err
	}
	results, checker := make([]readiness.Result, 0, len(objects)), readiness.Checker{Registry: known.Kinds()}
	for _, object := range objects {
		results = append(results, checker.At(now, object))
	}
	if err := s.print(stdout, results); err != nil {
		return err
	}
	if !readiness.All(results...).Ready() {
		return errNotReady
	}
	return nil
}
