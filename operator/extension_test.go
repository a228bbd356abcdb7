package operator_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/reconcile"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gadget renders another thing than widget for the kind that it is given.
type gadget struct{ kind schema.GroupVersionKind }

func (g gadget) Kind() schema.GroupVersionKind { return g.kind }

func (gadget) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("gadget", configMap("v"+s.Version()))
	return nil
}

// executed runs a command of an operator of widgets with these options.
func executed(t *testing.T, options []operator.Option, args ...string) (code int, out string) {
	t.Helper()
	op := operator.New("widget-operator", options...)
	op.Control(widget{})
	var text bytes.Buffer
	code = op.Execute(t.Context(), args, &text, &text)
	return code, text.String()
}

func TestExtend(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "widget.yaml")
	require.NoError(t, os.WriteFile(file, []byte(sample), 0o600))
	extend := func(e operator.Extension, err error) operator.Option {
		return operator.Extend(func(_ context.Context, p operator.Process) (operator.Extension, error) {
			assert.Equal(t, "widget-operator", p.Operator)
			assert.Equal(t, "operkit.dev", p.Domain)
			assert.Equal(t, []reconcile.Controller{widget{}}, p.Controllers)
			assert.NotNil(t, p.Logger)
			return e, err
		})
	}
	in := func(kind schema.GroupVersionKind) []reconcile.Controller { return []reconcile.Controller{gadget{kind}} }
	for _, row := range []struct {
		reason  string
		options []operator.Option
		code    int
		want    string
	}{
		{"nothing changes nothing", []operator.Option{extend(operator.Extension{}, nil)}, 0, "# first: ConfigMap/first"},
		{"a controller in place of the operator's", []operator.Option{extend(operator.Extension{Controllers: in(widgetKind)}, nil)}, 0, "# gadget: ConfigMap/v"},
		{"options of every reconciler", []operator.Option{extend(operator.Extension{
			Controllers: in(widgetKind), Reconciler: []reconcile.Option{reconcile.VersionOverride("3.2.1")},
		}, nil)}, 0, "ConfigMap/v3.2.1"},
		{"the later one counts", []operator.Option{
			extend(operator.Extension{Controllers: in(widgetKind)}, nil), extend(operator.Extension{Controllers: []reconcile.Controller{widget{}}}, nil),
		}, 0, "# first: ConfigMap/first"},
		{"in place of none", []operator.Option{extend(operator.Extension{Controllers: in(schema.GroupVersionKind{Group: "x", Version: "v1", Kind: "Other"})}, nil)},
			1, "it can't replace a controller: the operator has no controller of the kind Other"},
		{"an error ends the command", []operator.Option{extend(operator.Extension{}, errors.New("no versions"))}, 1, "widget-operator: "},
		{"nil", []operator.Option{operator.Extend(nil)}, 1, "nil extension: give Extend a function"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, out := executed(t, row.options, "render", "-f", file)
			assert.Equal(t, row.code, code, out)
			assert.Contains(t, out, row.want)
		})
	}
	t.Run("it is closed at the end, once and whatever became of it, and commands that need no controller don't start it", func(t *testing.T) {
		t.Parallel()
		started, closed := 0, 0
		counting := func(err error) operator.Option {
			return operator.Extend(func(context.Context, operator.Process) (operator.Extension, error) {
				started++
				return operator.Extension{Close: func(context.Context) error { closed++; return nil }}, err
			})
		}
		executed(t, []operator.Option{counting(nil)}, "render", "-f", file)
		executed(t, []operator.Option{counting(errors.New("no"))}, "render", "-f", file)
		executed(t, []operator.Option{counting(nil)}, "version")
		executed(t, []operator.Option{counting(nil)}, "config")
		assert.Equal(t, []int{2, 2}, []int{started, closed})
	})
}

// codedError ends a program with a code of its own.
type codedError struct{ error }

func (codedError) ExitCode() int { return 7 }

func TestCommand(t *testing.T) {
	t.Parallel()
	said := operator.Command(func(open operator.Opener) *cobra.Command {
		return &cobra.Command{Use: "say WHAT", Short: "Say something", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
			p, err := open(cmd)
			switch {
			case err != nil:
				return err
			case args[0] == "no":
				return codedError{errors.New("I'd rather not")}
			}
			options, err := p.Options(widget{}, nil)
			if err != nil {
				return err
			}
			cmd.Println(p.Operator, p.Config.Log.Level, len(p.Controllers), len(options) > 0)
			return nil
		}}
	})
	for _, row := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"it is told of the process", []string{"say", "hello"}, 0, "widget-operator info 1 true"},
		{"its flags and settings are those of all commands", []string{"say", "hello", "--log.level", "debug"}, 0, "widget-operator debug 1 true"},
		{"bad settings are a mistake in the arguments", []string{"say", "hello", "--log.level", "loud"}, 2, "log.level"},
		{"its errors may have a code", []string{"say", "no"}, 7, "widget-operator: I'd rather not"},
		{"it is in the help", []string{"--help"}, 0, "say             Say something"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			code, out := executed(t, []operator.Option{said, operator.WithoutTemporaryPatches()}, row.args...)
			assert.Equal(t, row.code, code, out)
			assert.Contains(t, out, row.want)
		})
	}
}
