package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func (o *Operator) reconcileCommand(settings *config.Settings) *cobra.Command {
	chosen := selection{unchosen: "which ones? Name them, or choose by --selector"}
	command := &cobra.Command{
		Use:   "reconcile [KIND] NAME...",
		Short: "Reconcile resources once, from here, and show what was done",
		Long: "Reconcile resources once, by this program and with the rights of whoever calls it, and show what was done. An operator that runs does\n" +
			"the same; to have it do so now is the command trigger.",
		Example: fmt.Sprintf("  %[1]s reconcile hello\n  %[1]s reconcile %[2]s/hello -n shop", o.callName(), o.example()),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, c, err := o.attach(cmd, settings)
			if err != nil {
				return err
			}
			found, err := chosen.resolve(cmd.Context(), c, o.controlledKinds(), args)
			errs := []error{err}
			for _, obj := range found.objects {
				if err := o.reconcileOnce(cmd.Context(), cmd.OutOrStdout(), p, c, obj); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", deploy.RefOf(obj), c.advised(err)))
				}
			}
			return errors.Join(errs...)
		},
	}
	chosen.flags(command)
	return command
}

// reconcileOnce reconciles one resource and shows what became of each object, as it does, and of the resource in the end.
func (o *Operator) reconcileOnce(ctx context.Context, out io.Writer, p *process, c *connection, obj *unstructured.Unstructured) error {
	var mu sync.Mutex
	show := func(component *reconcile.Component, results deploy.Results) {
		mu.Lock()
		defer mu.Unlock()
		for _, result := range results {
			fmt.Fprintf(out, "%s: %s %s\n", component.Name(), result.Ref, result.Action)
		}
	}
	reconciler, err := o.reconcilerOf(ctx, p, c, obj, reconcile.Observe(show))
	if err != nil {
		return err
	}
	key := deploy.RefOf(obj)
	ctx, cancel := context.WithTimeout(ctx, p.Watch.Timeout)
	defer cancel()
	if _, err := reconciler.Reconcile(ctx, request.Request{Key: key, Triggers: request.Forced}); err != nil {
		return err
	}
	after, err := c.Port().Get(ctx, key)
	var gone *deploy.NotFoundError
	switch {
	case errors.As(err, &gone):
		fmt.Fprintln(out, key, "is gone")
		return nil
	case err != nil:
		return err
	}
	s := newState(after, o.domain)
	line := fmt.Sprintf("%s: %s", key, s.Reason)
	if s.Message != "" {
		line += ": " + s.Message
	}
	fmt.Fprintln(out, line)
	return nil
}
