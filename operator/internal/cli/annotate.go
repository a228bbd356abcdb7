package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/pause"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// annotating describes a command that sets or removes an annotation of resources. The running operator acts on the
// annotation.
type annotating struct {
	// key returns the key of the annotation with a domain.
	key func(domain string) string
	// value returns the new value of the annotation. An empty value removes the annotation. done is printed about a
	// changed resource.
	value func(now time.Time) (value, done string, err error)
	// undone is printed about a resource that needs no change.
	undone string
}

// annotatingCommand adds the flags that choose resources to a command, and sets the function that it runs.
func (o *Operator) annotatingCommand(a annotating, command *cobra.Command) *cobra.Command {
	var chosen selection
	var every bool
	chosen.flags(command)
	o.completesResources(command, &chosen)
	command.Flags().BoolVar(&every, "all", false, "all resources of the operator in the namespace, or with --all-namespaces in all namespaces")
	command.RunE = func(cmd *cobra.Command, args []string) error {
		value, done, err := a.value(time.Now())
		if err != nil {
			return err
		}
		if every && chosen.labels != "" {
			return Usage("--all and --selector exclude each other")
		}
		_, c, err := o.attach(cmd)
		if err != nil {
			return err
		}
		if !every {
			chosen.unchosen = "no resources are given: name them, or use --selector or --all"
		}
		objects, byName, err := chosen.resolve(cmd.Context(), c, args)
		if byName && every {
			return Usage("--all and names exclude each other")
		}
		if err == nil && len(objects) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "no resources found")
		}
		manager, invalid := deploy.NewManager(c, deploy.FieldManager(o.fieldManager()))
		if invalid != nil {
			return invalid
		}
		return errors.Join(err, c.each(objects, func(obj *unstructured.Unstructured) error {
			key, needed := a.key(o.Domain), false
			result, err := manager.Change(cmd.Context(), deploy.RefOf(obj), func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				needed = current.GetAnnotations()[key] != value
				return annotated(current, key, value), nil
			})
			if err == nil {
				err = failure(result, key, needed)
			}
			if err != nil {
				return err
			}
			outcome := a.undone
			if needed {
				outcome = done
			}
			fmt.Fprintln(cmd.OutOrStdout(), result.Ref, outcome)
			return nil
		}))
	}
	return command
}

// failure returns why an annotation that needed a change wasn't changed.
func failure(result deploy.Result, key string, needed bool) error {
	switch {
	case result.Action == deploy.Skipped:
		return fmt.Errorf("%s: not found", result.Ref)
	case needed && result.Action == deploy.Unchanged:
		return fmt.Errorf("%s: annotation %s: the API server reverted the change: look for a webhook or a policy that does so", result.Ref, key)
	}
	return nil
}

// annotated returns obj with an annotation, or without it if value is empty.
func annotated(obj *unstructured.Unstructured, key, value string) *unstructured.Unstructured {
	obj = obj.DeepCopy()
	annotations := obj.GetAnnotations() // a copy
	if value == "" {
		delete(annotations, key)
	} else {
		annotations = labels.Merge(annotations, labels.Set{key: value})
	}
	obj.SetAnnotations(annotations)
	return obj
}

// fieldManager returns the field manager of the commands that write resources for a user. It isn't the field manager of
// the running operator.
func (o *Operator) fieldManager() string { return o.Name + "-cli" }

func reconcileAt(domain string) string { return domain + "/reconcile-at" }

func (o *Operator) triggerCommand() *cobra.Command {
	a := annotating{key: reconcileAt, value: func(now time.Time) (value, done string, err error) {
		return now.UTC().Format(time.RFC3339Nano), "triggered", nil
	}}
	return o.annotatingCommand(a, &cobra.Command{
		Use:        "trigger [KIND] NAME...",
		SuggestFor: []string{"restart", "requeue", "refresh", "retry"},
		Short:      "Make the running operator reconcile resources now",
		Example: fmt.Sprintf("  %[1]s trigger hello\n  %[1]s trigger %[2]s/hello %[2]s/world -n shop\n  %[1]s trigger --all --all-namespaces",
			o.Called, o.exampleKind()),
	})
}

func (o *Operator) pauseCommand() *cobra.Command {
	var until string
	a := annotating{key: pause.Annotation, undone: "was paused already", value: func(now time.Time) (value, done string, err error) {
		if until == "" {
			return "true", "paused", nil
		}
		at, err := timeOf(until, now)
		if err != nil {
			return "", "", err
		}
		text := at.UTC().Format(time.RFC3339)
		return text, "paused until " + text, nil
	}}
	command := &cobra.Command{
		Use:        "pause [KIND] NAME...",
		SuggestFor: []string{"suspend", "stop", "disable"},
		Short:      "Make the running operator stop reconciling resources for a while",
		Long:       "Make the running operator stop reconciling resources, until a time or until they are resumed. A pause doesn't stop a deletion.",
		Example: fmt.Sprintf("  %[1]s pause hello\n  %[1]s pause hello --until 2h\n  %[1]s pause --selector tier=test --until 2030-01-02T08:00:00Z",
			o.Called),
	}
	command.Flags().StringVar(&until, "until", "", "when the pause ends: a time such as 2030-01-02T08:00:00Z, or a duration from now, such as 2h (default: when it is resumed)")
	return o.annotatingCommand(a, command)
}

func (o *Operator) resumeCommand() *cobra.Command {
	a := annotating{key: pause.Annotation, undone: "wasn't paused", value: func(time.Time) (value, done string, err error) { return "", "resumed", nil }}
	return o.annotatingCommand(a, &cobra.Command{
		Use:        "resume [KIND] NAME...",
		SuggestFor: []string{"unpause", "continue", "enable"},
		Short:      "Make the running operator reconcile paused resources again",
		Example:    fmt.Sprintf("  %[1]s resume hello\n  %[1]s resume --all", o.Called),
	})
}

// timeOf reads a time in the future.
func timeOf(text string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d, err := config.ParseDuration(text)
		if err != nil {
			return at, Usage("--until %q: write a time such as 2030-01-02T08:00:00Z, or a duration such as 2h", text)
		}
		at = now.Add(d)
	}
	if !at.After(now) {
		return at, Usage("--until %q: the time is in the past: give a later one", text)
	}
	return at, nil
}
