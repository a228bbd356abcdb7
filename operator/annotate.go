package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// pauseKey is the annotation by which a resource is paused, behind the domain.
const pauseKey = "pause-execution"

// annotating is a command that changes an annotation of resources, by which the operator that runs is told something.
type annotating struct {
	// key is that of the annotation behind the domain.
	key string
	// value is what it becomes, nil to take it off, and done what is said of a resource then. It may refuse.
	value func(now time.Time) (value any, done string, err error)
	// undone is said of a resource of which nothing had to be changed, empty if it always has.
	undone string
}

// run makes what is left of a command: the resources, and what is said of them.
func (a annotating) run(o *Operator, settings *config.Settings, chosen *selection, every *bool) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		value, done, err := a.value(time.Now())
		if err != nil {
			return err
		}
		if *every && chosen.labels != "" {
			return usage("--all and --selector exclude each other")
		}
		_, c, err := o.attach(cmd, settings)
		if err != nil {
			return err
		}
		if !*every {
			chosen.unchosen = "which ones? Name them, choose by --selector, or say --all"
		}
		found, err := chosen.resolve(cmd.Context(), c, o.controlledKinds(), args)
		if found.byName && *every {
			return usage("--all leaves no names to say")
		}
		errs := []error{err}
		if err == nil && len(found.objects) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "there are none")
		}
		for _, obj := range found.objects {
			errs = append(errs, a.annotate(cmd.Context(), cmd.OutOrStdout(), o, c, obj, value, done))
		}
		return errors.Join(errs...)
	}
}

func (a annotating) annotate(ctx context.Context, out io.Writer, o *Operator, c *connection, obj *unstructured.Unstructured, value any, done string) error {
	key := o.domain + "/" + a.key
	present, has := obj.GetAnnotations()[key]
	if a.undone != "" && (value == nil && !has || value == present) {
		fmt.Fprintln(out, deploy.RefOf(obj), a.undone)
		return nil
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{key: value}}})
	if err != nil {
		return err
	}
	_, err = c.Port().Patch(ctx, deploy.RefOf(obj), deploy.Patch{Type: types.MergePatchType, Body: body, FieldManager: o.name + "-cli"})
	if err != nil {
		return fmt.Errorf("%s: %w", deploy.RefOf(obj), c.explained(err))
	}
	fmt.Fprintln(out, deploy.RefOf(obj), done)
	return nil
}

// annotatingCommand adds the flags that choose resources.
func (o *Operator) annotatingCommand(settings *config.Settings, a annotating, command *cobra.Command) *cobra.Command {
	var chosen selection
	var every bool
	chosen.flags(command)
	command.Flags().BoolVar(&every, "all", false, "all resources of the operator in the namespace, or in all namespaces")
	command.RunE = a.run(o, settings, &chosen, &every)
	return command
}

func (o *Operator) triggerCommand(settings *config.Settings) *cobra.Command {
	a := annotating{key: "reconcile-at", value: func(now time.Time) (any, string, error) {
		return now.UTC().Format(time.RFC3339Nano), "triggered", nil
	}}
	return o.annotatingCommand(settings, a, &cobra.Command{
		Use:   "trigger [KIND] NAME...",
		Short: "Have the operator that runs reconcile resources now",
		Example: fmt.Sprintf("  %[1]s trigger hello\n  %[1]s trigger %[2]s/hello %[2]s/world -n shop\n  %[1]s trigger --all --all-namespaces",
			o.callName(), o.example()),
	})
}

func (o *Operator) pauseCommand(settings *config.Settings) *cobra.Command {
	var until string
	a := annotating{key: pauseKey, undone: "was paused already", value: func(now time.Time) (any, string, error) {
		if until == "" {
			return "true", "paused", nil
		}
		at, err := timeOf(until, now)
		if err != nil {
			return nil, "", err
		}
		text := at.UTC().Format(time.RFC3339)
		return text, "paused until " + text, nil
	}}
	command := &cobra.Command{
		Use:   "pause [KIND] NAME...",
		Short: "Have the operator leave resources alone for a while",
		Long:  "Have the operator leave resources alone, until a time or until they are resumed. A deletion goes on all the same.",
		Example: fmt.Sprintf("  %[1]s pause hello\n  %[1]s pause hello --until 2h\n  %[1]s pause --selector tier=test --until 2030-01-02T08:00:00Z",
			o.callName()),
	}
	command.Flags().StringVar(&until, "until", "", "when the pause ends: a time such as 2030-01-02T08:00:00Z, or a duration from now, such as 2h (default: when it is resumed)")
	return o.annotatingCommand(settings, a, command)
}

// timeOf reads a time that is to come.
func timeOf(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d, err := config.ParseDuration(text)
		if err != nil {
			return at, usage("--until %q: write a time such as 2030-01-02T08:00:00Z, or a duration such as 2h", text)
		}
		at = now.Add(d)
	}
	if !at.After(now) {
		return at, usage("--until %q: that is over", text)
	}
	return at, nil
}

func (o *Operator) resumeCommand(settings *config.Settings) *cobra.Command {
	a := annotating{key: pauseKey, undone: "wasn't paused", value: func(time.Time) (any, string, error) { return nil, "resumed", nil }}
	return o.annotatingCommand(settings, a, &cobra.Command{
		Use:     "resume [KIND] NAME...",
		Short:   "Have the operator look after resources again that were paused",
		Example: fmt.Sprintf("  %[1]s resume hello\n  %[1]s resume --all", o.callName()),
	})
}
