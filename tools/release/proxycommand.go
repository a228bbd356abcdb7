package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operkit/operkit/tools/release/proxy"
)

// proxy is the command with which somebody uses the modules of a clone before there is a release.
func (p program) proxy() *cobra.Command {
	command := &cobra.Command{
		Use:   "proxy [DIR]",
		Short: "Fill a module proxy from the working tree, and print what has the go command use it",
		Long: "Fill a module proxy in DIR, .cache/release/proxy when empty, with the released modules as the working tree has them, and print\n" +
			"the lines for a shell that have the go command use it:\n\n" +
			"  eval \"$(release proxy)\"\n\n" +
			"Then 'go get' and 'go run' of a module with @latest, in any folder, mean what was in the working tree.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("%w: %q: give one folder", errUsage, args)
			}
			return nil
		},
	}
	command.RunE = func(cmd *cobra.Command, args []string) error {
		r, err := p.open()
		if err != nil {
			return err
		}
		dir := filepath.Join(r.Root, ".cache", "release", "proxy")
		if len(args) == 1 {
			dir = args[0]
		}
		if _, err := proxy.Fill(cmd.Context(), r.Root, dir); err != nil {
			return err
		}
		env, err := proxy.Environ(cmd.Context(), dir)
		if err != nil {
			return err
		}
		lines := "unset GOPRIVATE GONOPROXY\n"
		for _, entry := range env {
			if name, value, _ := strings.Cut(entry, "="); slices.Contains([]string{"GOPROXY", "GONOSUMDB", "GONOPROXY"}, name) {
				lines += fmt.Sprintf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
			}
		}
		_, err = io.WriteString(p.stdout, lines)
		return err
	}
	return command
}
