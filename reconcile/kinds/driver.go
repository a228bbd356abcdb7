package kinds

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// again is the time after which a kind is tried again whose reconciler couldn't be made.
const again = time.Minute

// Driver gives each selected kind a reconciler, as long as the kind is served. Its fields are set before Run.
type Driver struct {
	// View reports the kinds. It must be a deploy.KindView, as the views of deploy/cluster and deploy/dryrun are.
	View deploy.View
	// Engine runs the reconcilers. It watches View.
	Engine *watch.Engine
	// Select selects the kinds.
	Select Selector
	// Verbs are what reconcilers do with the objects besides "list" and "watch", such as "patch". A kind that lacks a verb
	// when it comes is left out. A kind that loses a verb later is reconciled on: an API server doesn't report "patch" for
	// a kind whose definition is being deleted, and finalizers have to be removed then.
	Verbs []string
	// New makes the reconciler of a kind, each time when the kind comes. After an error or a panic, which is logged, it is
	// called again after a minute, and when the kinds change.
	New func(ctx context.Context, kind deploy.ServedKind) (watch.Reconciler, error)
	// Ended, if not nil, is called when a kind has been released: nothing of its reconciler runs any more.
	Ended func(kind schema.GroupVersionKind)
	// Options are the options with which the engine controls each kind.
	Options []watch.Option
	// Logger logs; nil is slog.Default.
	Logger *slog.Logger
}

// Run starts and ends reconcilers until ctx ends, which is no error. It returns an error if a field is missing or
// invalid. Reconcilers that run then go on until the engine ends.
func (d Driver) Run(ctx context.Context) error {
	view, ok := d.View.(deploy.KindView)
	switch err := d.Select.Check(); {
	case err != nil:
		return err
	case !ok:
		return fmt.Errorf("kinds: %T doesn't report the kinds of the cluster: use a deploy.KindView", d.View)
	case d.Engine == nil || d.New == nil:
		return errors.New("kinds: a driver needs an Engine and New")
	}
	if d.Logger == nil {
		d.Logger = slog.Default()
	}
	r := &run{
		Driver: d, driven: map[schema.GroupKind]*driven{}, reported: map[string]bool{},
		served: make(chan []deploy.ServedKind), ended: make(chan schema.GroupKind),
	}
	var background sync.WaitGroup
	defer background.Wait()
	background.Go(func() {
		view.WatchKinds(ctx, func(kinds []deploy.ServedKind) {
			select {
			case r.served <- kinds:
			case <-ctx.Done():
			}
		})
	})
	r.run(ctx, &background)
	return nil
}

// run is one call of Run.
type run struct {
	Driver
	driven map[schema.GroupKind]*driven
	// reported are the messages that have been logged about kinds that are left out.
	reported map[string]bool
	served   chan []deploy.ServedKind
	// ended passes kinds that have been released.
	ended chan schema.GroupKind
}

// driven is a kind with a reconciler. ending: the kind is being released.
type driven struct {
	kind   schema.GroupVersionKind
	ending bool
}

func (r *run) run(ctx context.Context, releases *sync.WaitGroup) {
	var all []deploy.ServedKind
	retry := time.NewTicker(again)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case all = <-r.served:
		case kind := <-r.ended:
			delete(r.driven, kind)
		case <-retry.C:
		}
		wanted := r.wanted(all)
		for kind, d := range r.driven {
			if now, is := wanted[kind]; !d.ending && (!is || now.Kind != d.kind) {
				d.ending = true
				releases.Go(func() { r.release(ctx, d.kind) })
			}
		}
		for group, kind := range wanted {
			if r.driven[group] == nil {
				r.start(ctx, kind)
			}
		}
	}
}

// wanted returns the selected kinds that can be reconciled.
func (r *run) wanted(all []deploy.ServedKind) map[schema.GroupKind]deploy.ServedKind {
	selected := r.Select.of(all)
	if len(selected.ambiguous) > 0 {
		r.report("a name means several kinds, none of them is reconciled: select the group, too",
			"name", r.Select.Name, "kinds", strings.Join(selected.ambiguous, ", "))
	}
	for group, kind := range selected.kinds {
		if r.driven[group] != nil {
			continue
		}
		lacks := slices.DeleteFunc(append([]string{"list", "watch"}, r.Verbs...), func(verb string) bool {
			return slices.Contains(kind.Verbs, verb)
		})
		if len(lacks) > 0 {
			r.report("a kind isn't reconciled: its objects lack verbs", "kind", group.String(), "lacks", strings.Join(lacks, ", "))
			delete(selected.kinds, group)
		}
	}
	return selected.kinds
}

// report logs a kind that is left out, once.
func (r *run) report(message string, args ...any) {
	if line := fmt.Sprint(message, args); !r.reported[line] {
		r.reported[line] = true
		r.Logger.Warn(message, args...)
	}
}

// start makes the reconciler of a kind.
func (r *run) start(ctx context.Context, kind deploy.ServedKind) {
	reconciler, err := failure.Value(func() (watch.Reconciler, error) { return r.New(ctx, kind) })
	if err == nil {
		err = r.Engine.Control(kind.Kind, reconciler, r.Options...)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.report("a kind isn't reconciled: its reconciler can't be made, retrying", "kind", kind.Kind.GroupKind().String(), "error", err)
		return
	}
	r.driven[kind.Kind.GroupKind()] = &driven{kind: kind.Kind}
}

// release ends the reconciler of a kind. It takes as long as the running reconciles need to end.
func (r *run) release(ctx context.Context, kind schema.GroupVersionKind) {
	if err := r.Engine.Release(ctx, kind); err != nil {
		if ctx.Err() == nil {
			r.Logger.Error("a kind can't be released", "kind", kind.GroupKind().String(), "error", err)
		}
		return
	}
	if r.Ended != nil {
		r.Ended(kind)
	}
	select {
	case r.ended <- kind.GroupKind():
	case <-ctx.Done():
	}
}
