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

// again is the longest time until a kind is tried again whose reconciler couldn't be made or ended.
const again = time.Minute

// Driver gives each selected kind a reconciler, as long as the kind is served. Its fields are set before Run.
type Driver struct {
	// View reports the kinds. It must be a deploy.KindView, as the views of deploy/cluster and deploy/dryrun are.
	View deploy.View
	// Engine runs the reconcilers. It must have been made with the same View (watch.New).
	Engine *watch.Engine
	// Select selects the kinds.
	Select Selector
	// Verbs are what reconcilers do with the objects besides "list" and "watch", such as "patch". A kind that lacks a
	// verb when it comes is left out. A kind that loses a verb later is reconciled on: an API server doesn't report
	// "patch" for a kind whose definition is being deleted, and finalizers have to be removed then.
	Verbs []string
	// New makes the reconciler of a kind, each time the kind comes. If New or Engine.Control fails, or New panics, the
	// error is logged, and New is called again within a minute, or earlier when the kinds change.
	New func(ctx context.Context, kind deploy.ServedKind) (watch.Reconciler, error)
	// Ended, if not nil, is called when a kind has been released: nothing of its reconciler runs any more. After a
	// panic it is called again. It isn't called when the engine ends.
	Ended func(kind schema.GroupVersionKind)
	// Options are options with which the engine controls each kind. They win over those of Select.
	Options []watch.Option
	// Logger logs; nil is slog.Default.
	Logger *slog.Logger
}

// Run starts and ends reconcilers until ctx ends, and then returns nil. It returns an error if a field is missing or
// invalid. After Run has returned, the engine goes on to run the reconcilers that were started.
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
		Driver: d, driven: map[schema.GroupKind]*driven{}, reported: map[schema.GroupKind]string{},
		served: make(chan []deploy.ServedKind), ended: make(chan released),
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
	// reported are the latest messages about kinds that are left out; those about the selector have no kind.
	reported map[schema.GroupKind]string
	served   chan []deploy.ServedKind
	ended    chan released
}

// released is the result of a release.
type released struct {
	kind schema.GroupKind
	err  error
}

// driven is a kind with a reconciler, which is made of basis. ending: the kind is being released.
type driven struct {
	kind   schema.GroupVersionKind
	basis  any
	ending bool
}

func (r *run) run(ctx context.Context, releases *sync.WaitGroup) {
	var all []deploy.ServedKind
	retry := time.NewTicker(again)
	defer retry.Stop()
	changed := r.Select.Changed
	for {
		select {
		case <-ctx.Done():
			return
		case all = <-r.served:
		case end := <-r.ended:
			if end.err != nil {
				r.report(end.kind, "the end of a kind isn't complete, retrying", "error", end.err)
				r.driven[end.kind].ending = false
				continue // until the kinds change or the time is over
			}
			delete(r.driven, end.kind)
		case _, open := <-changed:
			if !open {
				changed = nil
			}
		case <-retry.C:
		}
		wanted, err := failure.Value(func() (map[schema.GroupKind]deploy.ServedKind, error) { return r.wanted(all), nil })
		if err != nil {
			r.report(schema.GroupKind{}, "the kinds can't be selected: they stay as they are", "error", err)
			continue
		}
		for kind, d := range r.driven {
			if now, is := wanted[kind]; !d.ending && (!is || now.Kind != d.kind || r.Select.basisOf(now) != d.basis) {
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
	switch {
	case len(selected.ambiguous) > 0:
		r.report(schema.GroupKind{}, "a name means several kinds, none of them is reconciled: select the group, too",
			"name", r.Select.Name, "kinds", strings.Join(selected.ambiguous, ", "))
	case len(selected.kinds) == 0:
		r.reportBy(r.Logger.Info, schema.GroupKind{}, "the cluster serves no kind that is selected, waiting for one",
			"group", r.Select.Group, "version", r.Select.Version, "name", r.Select.Name, "category", r.Select.Category)
	default:
		delete(r.reported, schema.GroupKind{})
	}
	for group, kind := range selected.kinds {
		if r.driven[group] != nil {
			continue
		}
		lacks := slices.DeleteFunc(append([]string{"list", "watch"}, r.Verbs...), func(verb string) bool {
			return slices.Contains(kind.Verbs, verb)
		})
		if len(lacks) > 0 {
			r.report(group, "a kind isn't reconciled: the API server doesn't offer all verbs that it needs", "lacks", strings.Join(lacks, ", "))
			delete(selected.kinds, group)
		}
	}
	return selected.kinds
}

// report logs why a kind is left out, unless the last message about this kind was the same. An empty kind stands for
// the selector.
func (r *run) report(kind schema.GroupKind, message string, args ...any) {
	r.reportBy(r.Logger.Warn, kind, message, args...)
}

func (r *run) reportBy(log func(message string, args ...any), kind schema.GroupKind, message string, args ...any) {
	line := fmt.Sprint(message, args)
	if r.reported[kind] == line {
		return
	}
	r.reported[kind] = line
	if !kind.Empty() {
		args = append([]any{"kind", kind.String()}, args...)
	}
	log(message, args...)
}

// start makes the reconciler of a kind.
func (r *run) start(ctx context.Context, kind deploy.ServedKind) {
	group := kind.Kind.GroupKind()
	if r.Engine.Controls(kind.Kind) {
		r.report(group, "a kind isn't reconciled a second time: the engine has a reconciler for it")
		return
	}
	basis := r.Select.basisOf(kind) // before New: what changes meanwhile is noticed
	reconciler, err := failure.Value(func() (watch.Reconciler, error) { return r.New(ctx, kind) })
	var options []watch.Option
	if err == nil {
		options, err = failure.Value(func() ([]watch.Option, error) { return r.Select.optionsOf(kind), nil })
	}
	if err == nil {
		err = r.Engine.Control(kind.Kind, reconciler, append(slices.Clone(options), r.Options...)...)
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		r.report(group, "a kind isn't reconciled: its reconciler can't be made, retrying", "error", err)
		return
	}
	delete(r.reported, group)
	r.driven[group] = &driven{kind: kind.Kind, basis: basis}
}

// release ends the reconciler of a kind. It takes as long as the running reconciles need to end.
func (r *run) release(ctx context.Context, kind schema.GroupVersionKind) {
	_, err := failure.Value(func() (any, error) {
		err := r.Engine.Release(ctx, kind)
		if err == nil && r.Ended != nil {
			r.Ended(kind)
		}
		return nil, err
	})
	select {
	case r.ended <- released{kind.GroupKind(), err}:
	case <-ctx.Done():
	}
}
