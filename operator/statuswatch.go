package operator

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/logging"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// gather is how long changes are gathered that come one after the other, tick how often ages are shown anew.
const (
	gather = 100 * time.Millisecond
	tick   = time.Second
)

// watched are the resources that a selection means, as they are at each moment.
type watched struct {
	// refs are those that were named, labels those that the others have to have.
	refs   []deploy.Ref
	labels labels.Selector

	// stop ends the watches.
	stop func()

	mu      sync.Mutex
	objects map[deploy.Ref]*unstructured.Unstructured
	changed chan struct{}
}

// watch follows what a selection means, until its stop is called.
func (o *Operator) watch(ctx context.Context, p *process, c *connection, s *selection, args []string) (*watched, error) {
	if strings.ContainsAny(s.namespace, "*?[!") { // what is watched would take it for a pattern
		return nil, usage("--namespace %q: it can't be the name of a namespace", s.namespace)
	}
	refs, kinds, selector, err := s.meant(ctx, c, o.controlledKinds(), args)
	if err != nil {
		return nil, err
	}
	client, err := o.clientConfig(p)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	api, err := cluster.New(ctx, client, cluster.Logger(slog.New(logging.NewHandler(p.logger.Handler(), logging.Level(slog.LevelWarn)))), cluster.Namespaces(s.namespaces(c, refs)...))
	if err != nil {
		cancel()
		return nil, err
	}
	w := &watched{refs: refs, labels: selector, objects: map[deploy.Ref]*unstructured.Unstructured{}, changed: make(chan struct{}, 1)}
	w.stop = func() {
		cancel()
		api.Wait()
	}
	if len(refs) > 0 {
		kinds = nil
		for _, ref := range refs {
			if !slices.Contains(kinds, ref.Kind) {
				kinds = append(kinds, ref.Kind)
			}
		}
	}
	errs := w.follow(ctx, c, api, kinds)
	if len(errs) == len(kinds) {
		w.stop()
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		p.logger.Warn("not shown", "error", err)
	}
	return w, nil
}

// namespaces are those that a selection looks in, none for all.
func (s *selection) namespaces(c *connection, refs []deploy.Ref) (names []string) {
	for _, ref := range refs {
		if ref.Namespace != "" {
			names = append(names, ref.Namespace)
		}
	}
	if where := s.where(c); len(refs) == 0 && where != "" {
		names = []string{where}
	}
	return names
}

// follow subscribes to kinds, and tells why some can't be watched.
func (w *watched) follow(ctx context.Context, c *connection, api *cluster.Cluster, kinds []schema.GroupVersionKind) (errs []error) {
	for _, kind := range kinds {
		subscription, err := api.View().Subscribe(ctx, kind, w.note)
		if err == nil {
			err = subscription.Synced(ctx)
		}
		if err != nil {
			errs = append(errs, c.explained(err))
		}
	}
	return errs
}

func (w *watched) note(e deploy.Event) {
	ref := deploy.RefOf(e.New)
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Type == deploy.Deleted || e.Type == deploy.Left || !w.means(ref, e.New) {
		delete(w.objects, ref)
	} else {
		w.objects[ref] = e.New
	}
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

func (w *watched) means(ref deploy.Ref, obj *unstructured.Unstructured) bool {
	if len(w.refs) > 0 {
		return slices.Contains(w.refs, ref)
	}
	return w.labels.Matches(labels.Set(obj.GetLabels()))
}

// all are the resources, by namespace, kind and name, and those that were named and aren't there.
func (w *watched) all() (objects []*unstructured.Unstructured, missing []deploy.Ref) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, obj := range w.objects {
		objects = append(objects, obj)
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		key := func(obj *unstructured.Unstructured) string {
			return obj.GetNamespace() + "/" + obj.GetKind() + "/" + obj.GetName()
		}
		return strings.Compare(key(a), key(b))
	})
	for _, ref := range w.refs {
		if w.objects[ref] == nil {
			missing = append(missing, ref)
		}
	}
	return objects, missing
}

// show draws the resources at each change, until ctx ends.
func (w *watched) show(ctx context.Context, s *screen, picture func(out io.Writer, objects []*unstructured.Unstructured, missing []deploy.Ref) error) error {
	var ages <-chan time.Time // what they say changes with time, which is of interest where somebody looks
	if s.terminal() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		ages = ticker.C
	}
	for {
		objects, missing := w.all()
		if err := s.draw(func(out io.Writer) error { return picture(out, objects, missing) }); err != nil {
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
