package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

func (o *Operator) statusCommand() *cobra.Command {
	var chosen selection
	var output output
	var live bool
	command := &cobra.Command{
		Use:        "status [KIND] [NAME...]",
		SuggestFor: []string{"get", "describe", "list", "ls", "show", "wait"},
		Short:      "Show the state of resources: a table of all, or named resources with their components and conditions",
		Example: fmt.Sprintf("  %[1]s status\n  %[1]s status --all-namespaces --selector tier=prod\n  %[1]s status hello\n  %[1]s status hello --watch\n"+
			"  %[1]s status %[2]s/hello -o yaml", o.Called, o.exampleKind()),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, c, err := o.attach(cmd)
			if err != nil {
				return err
			}
			if live {
				return o.watchStatus(cmd, p, c, &chosen, args, output)
			}
			objects, byName, err := chosen.resolve(cmd.Context(), c, args)
			if len(objects) == 0 && output == "table" {
				if err == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "no resources found")
				}
				return err
			}
			return errors.Join(err, output.print(cmd.OutOrStdout(), o.statesOf(objects, chosen.all, byName)))
		},
	}
	chosen.flags(command)
	o.completesResources(command, &chosen)
	output.flag(command)
	command.Flags().BoolVarP(&live, "watch", "w", false, "keep running, and show each change until interrupted")
	return command
}

// statesOf returns the states of resources. namespaces adds the column of the namespaces to the table, and details
// shows each resource at length instead.
func (o *Operator) statesOf(objects []*unstructured.Unstructured, namespaces, details bool) states {
	s := states{kinds: len(o.Kinds) > 1 || len(o.Selectors) > 0, namespaces: namespaces, details: details, called: o.Called}
	for _, obj := range objects {
		if o.hasComponents(obj.GroupVersionKind()) {
			s.all = append(s.all, newState(obj, o.Domain))
		} else {
			s.all = append(s.all, newForeignState(obj, o.Domain, time.Now()))
		}
	}
	return s
}

// watchStatus shows the state of resources again after each change.
func (o *Operator) watchStatus(cmd *cobra.Command, p *Process, c *connection, s *selection, args []string, output output) error {
	if strings.ContainsAny(s.namespace, "*?[!") { // cluster.Namespaces would take it for a pattern
		return Usage("--namespace %q: it can't be the name of a namespace", s.namespace)
	}
	m, err := s.meaning(cmd.Context(), c, args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	warnings := slog.New(logging.NewHandler(p.Logger.Handler(), slog.LevelWarn, nil))
	live, err := o.connect(ctx, p, cluster.Logger(warnings), cluster.Namespaces(s.namespaces(c, m)...))
	if err != nil {
		return err
	}
	defer live.Wait()
	defer cancel()
	w := &watched{meaning: m, objects: map[deploy.Ref]*unstructured.Unstructured{}, changed: make(chan struct{}, 1)}
	errs := w.follow(ctx, live)
	if len(errs) == len(m.kinds) {
		return errors.Join(errs...)
	}
	for _, err := range errs {
		p.Logger.Warn("a kind can't be shown", "error", err)
	}
	asTable := output == "table"
	screen := &screen{out: cmd.OutOrStdout(), stream: !asTable, between: map[string]string{"table": "\n", "yaml": "---\n"}[string(output)]}
	return w.show(ctx, screen, func(out io.Writer) error {
		objects, missing := w.all()
		if asTable && len(objects)+len(missing) == 0 {
			_, err := fmt.Fprintln(out, "no resources found")
			return err
		}
		if len(objects) > 0 || !asTable {
			if err := output.print(out, o.statesOf(objects, s.all, len(m.refs) > 0)); err != nil {
				return err
			}
		}
		for _, ref := range missing {
			if asTable {
				fmt.Fprintf(out, "%s: not found\n", ref)
			}
		}
		return nil
	})
}

// namespaces returns the namespaces of the selected resources. No names mean all namespaces.
func (s *selection) namespaces(c *connection, m meaning) (names []string) {
	for _, ref := range m.refs {
		if ref.Namespace != "" {
			names = append(names, ref.Namespace)
		}
	}
	if where := s.where(c); len(m.refs) == 0 && where != "" {
		names = []string{where}
	}
	return names
}

// Changes within the time gather are shown together. On a terminal, ages are updated after each tick.
const (
	gather = 100 * time.Millisecond
	tick   = time.Second
)

// watched holds the present state of the selected resources.
type watched struct {
	meaning
	changed chan struct{}

	mu      sync.Mutex
	objects map[deploy.Ref]*unstructured.Unstructured
}

// follow subscribes to the kinds, and returns an error for each kind that can't be watched.
func (w *watched) follow(ctx context.Context, c *connection) (errs []error) {
	for _, kind := range w.kinds {
		subscription, err := c.View().Subscribe(ctx, kind, w.note)
		if err == nil {
			err = subscription.Synced(ctx)
		}
		if err != nil {
			errs = append(errs, c.explained(err))
		}
	}
	return errs
}

// note updates the resources by an event.
func (w *watched) note(e deploy.Event) {
	ref := deploy.RefOf(e.New)
	meant := slices.Contains(w.refs, ref) || len(w.refs) == 0 && w.labels.Matches(labels.Set(e.New.GetLabels()))
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Type == deploy.Deleted || e.Type == deploy.Left || !meant {
		delete(w.objects, ref)
	} else {
		w.objects[ref] = e.New
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// all returns the resources, sorted by namespace, kind and name, and the named resources that don't exist.
func (w *watched) all() (objects []*unstructured.Unstructured, missing []deploy.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	objects = slices.SortedFunc(maps.Values(w.objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetKind(), b.GetKind()), cmp.Compare(a.GetName(), b.GetName()))
	})
	for _, ref := range w.refs {
		if w.objects[ref] == nil {
			missing = append(missing, ref)
		}
	}
	return objects, missing
}

// show draws a picture after each change, until ctx ends.
func (w *watched) show(ctx context.Context, s *screen, picture func(out io.Writer) error) error {
	var ages <-chan time.Time
	if s.terminal() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		ages = ticker.C
	}
	for {
		if err := s.draw(picture); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ages:
			continue
		case <-w.changed:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(gather):
		}
	}
}
