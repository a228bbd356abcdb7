package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (o *Operator) reconcileCommand() *cobra.Command {
	chosen := selection{unchosen: "no resources are given: name them, or use --selector"}
	command := &cobra.Command{
		Use:        "reconcile [KIND] NAME...",
		SuggestFor: []string{"apply", "sync", "once"},
		Short:      "Reconcile resources once, in this process, and show what it did",
		Long: "Reconcile resources once, in this process and with your rights, and show what it did. The command trigger makes the running operator\n" +
			"reconcile them instead.",
		Example: fmt.Sprintf("  %[1]s reconcile hello\n  %[1]s reconcile %[2]s/hello -n shop", o.Called, o.exampleKind()),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			objects, byName, err := chosen.resolve(cmd.Context(), c, args)
			if !byName {
				objects = o.withComponents(cmd.ErrOrStderr(), objects)
			}
			return errors.Join(err, c.each(objects, func(obj *unstructured.Unstructured) error {
				return o.reconcileOnce(cmd.Context(), cmd.OutOrStdout(), p, c, deploy.RefOf(obj))
			}))
		},
	}
	chosen.flags(command)
	o.completesResources(command, &chosen)
	return command
}

// reconcileOnce reconciles a resource. It prints the action for each object, and in the end the state of the resource.
func (o *Operator) reconcileOnce(ctx context.Context, out io.Writer, p *Process, c *connection, ref deploy.Ref) error {
	var mu sync.Mutex
	show := func(component *reconcile.Component, results deploy.Results) {
		mu.Lock()
		defer mu.Unlock()
		for _, result := range results {
			fmt.Fprintf(out, "%s: %s %s\n", component.Name(), result.Ref, result.Action)
		}
	}
	logger := p.Logger
	if !logger.Enabled(ctx, slog.LevelDebug) { // the output has what the log would say
		logger = slog.New(logging.NewHandler(logger.Handler(), slog.LevelWarn, nil))
	}
	reconciler, err := o.reconciler(ctx, p, c, ref.Kind, reconcile.ObserveComponents(show), reconcile.Logger(logger))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, p.Watch.Timeout)
	defer cancel()
	if _, err := reconciler.Reconcile(ctx, request.Request{Key: ref, Triggers: request.Forced}); err != nil {
		return err
	}
	after, err := c.Port().Get(ctx, ref)
	if err != nil {
		return err
	}
	if after == nil {
		fmt.Fprintln(out, ref, "is gone")
		return nil
	}
	s := newState(after, o.Domain)
	line := fmt.Sprintf("%s: %s", ref, s.Reason)
	if s.Message != "" {
		line += ": " + s.Message
	}
	fmt.Fprintln(out, line)
	return nil
}
